"""The headline metrics of a study: what was forgotten (bwt, bwt_gated), what practice was worth (fwt, fwt_total)."""

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray, mean_of_defined
from etude.curriculum.metrics.backward import BackwardTransfer, backward_transfer
from etude.curriculum.metrics.forward import lead
from etude.curriculum.metrics.once import once
from etude.curriculum.metrics.registry import Undefined, Value, metric
from etude.curriculum.metrics.tasks import learnt_scores, lost
from etude.curriculum.metrics.view import StudyView

GATE = 10.0
"""The score from which `bwt_gated` counts a task: below it, noise is divided by noise."""


@metric(direction="lower", source="docs/metrics/bwt.md")
def bwt(view: StudyView, group: str = "sequential") -> Value | Undefined:
    """The mean share of what was learnt of each task that is lost afterwards."""
    return _forgetting(view, group, least=None)


@metric(direction="lower", source="docs/metrics/bwt.md")
def bwt_gated(view: StudyView, group: str = "sequential") -> Value | Undefined:
    """The same over the tasks that scored 10 or more at their own end."""
    return _forgetting(view, group, least=GATE)


@metric(direction="higher", source="docs/metrics/fwt.md", regimes=("sequential", "scratch"), tasks=2)
def fwt(view: StudyView, group: str = "sequential") -> Value | Undefined:
    """The practised agent's lead over a fresh one, averaged over the composition's training."""
    pair = practised_and_fresh(view, group)
    return pair if isinstance(pair, Undefined) else Value(lead(*pair))


@metric(direction="higher", source="docs/metrics/fwt.md", regimes=("sequential", "scratch-total"), tasks=2)
def fwt_total(view: StudyView, group: str = "sequential") -> Value | Undefined:
    """The same against an agent that trained on the composition alone for as many steps as the whole sequence has."""
    pair = practised_and_total(view, group)
    return pair if isinstance(pair, Undefined) else Value(lead(*pair))


@once
def practised_and_fresh(
    view: StudyView, group: str = "sequential"
) -> tuple[FloatArray, FloatArray, FloatArray] | Undefined:
    """The composition's own checkpoints (K,), counted from its start, and its scores (..., K) practised and fresh."""
    steps, scores = _own_training(view, group)
    if not np.array_equal(steps - steps[0], view.steps("scratch")):
        return Undefined(f"{group} and scratch were evaluated at different steps of {view.tasks[-1]}'s training")
    return steps - steps[0], scores, view.scores("scratch")[..., -1, :]


@once
def practised_and_total(
    view: StudyView, group: str = "sequential"
) -> tuple[FloatArray, FloatArray, FloatArray] | Undefined:
    """The same beside the regime scratch-total, at the same steps since the runs' start."""
    steps, scores = _own_training(view, group)
    total = view.steps("scratch-total")
    same = (total >= steps[0]) & (total <= steps[-1])
    if total[-1] != steps[-1] or not np.array_equal(steps, total[same]):
        return Undefined(f"{group} and scratch-total were evaluated at different steps of {view.tasks[-1]}'s training")
    return steps, scores, view.scores("scratch-total")[..., -1, same]


def _own_training(view: StudyView, group: str) -> tuple[FloatArray, FloatArray]:
    """The checkpoints of the composition's own training, and its scores there."""
    begin, end = [0, *view.ends_of(group)][-2:]
    steps = view.steps(group)
    window = slice(*np.searchsorted(steps, [begin, end + 1]).tolist())
    return steps[window].astype(np.float64), view.scores(group)[..., -1, window]


@once
def _backward(view: StudyView, group: str) -> BackwardTransfer:
    return backward_transfer(view.steps(group), view.scores(group)[list(view.order(group))], view.ends_of(group))


def _forgetting(view: StudyView, group: str, least: float | None) -> Value | Undefined:
    order = list(view.order(group))
    tasks = [view.tasks[place] for place in order]
    point = _backward(view.point, group)
    if point.reason:
        return Undefined(point.reason)
    learnt = learnt_scores(view.point, group)[order][:-1]
    counts = point.learnt if least is None else point.learnt & (learnt >= least)
    if not counts.any():
        return Undefined(f"no task had a {view.curves.of} of {least:g} at its own end")
    left_out = {
        task: f"{view.curves.of} {score:z.1f} at its own end, " + (f"below {least:g}" if score > 0 else "not above 0")
        for task, score, included in zip(tasks, learnt, counts, strict=False)
        if not included
    }
    shares = lost(view, group)[..., order[:-1]]
    return Value(mean_of_defined(shares[..., counts]), left_out)

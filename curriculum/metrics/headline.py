"""The headline metrics of a study: what was forgotten (bwt, bwt_gated) and what practice was worth (fwt)."""

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.backward import backward_transfer
from etude.curriculum.metrics.forward import lead
from etude.curriculum.metrics.registry import Metric, Undefined, Value, register_metric
from etude.curriculum.metrics.tasks import final_scores, learnt_scores, lost
from etude.curriculum.metrics.view import StudyView

GATE = 10.0
"""The score from which `bwt_gated` counts a task: below it, noise is divided by noise."""


def bwt(view: StudyView) -> Value | Undefined:
    """The mean share of what was learnt of each task that is lost afterwards; docs/metrics/bwt.md."""
    return _forgetting(view, least=None)


def bwt_gated(view: StudyView) -> Value | Undefined:
    """The same over the tasks that scored 10 or more at their own end."""
    return _forgetting(view, least=GATE)


def fwt(view: StudyView) -> Value | Undefined:
    """The practised agent's lead over a fresh one, averaged over the composition's training; docs/metrics/fwt.md."""
    if len(view.tasks) < 2:
        return Undefined("needs at least 2 tasks")
    begin, end = view.ends[-2:]
    steps = view.steps("sequential")
    window = (steps >= begin) & (steps <= end)
    scratch_steps = view.steps("scratch")
    if not np.array_equal(steps[window] - begin, scratch_steps):
        return Undefined(f"sequential and scratch were evaluated at different steps of {view.tasks[-1]}'s training")
    sequential = view.scores("sequential")[..., -1, window]
    return Value(lead(scratch_steps, sequential, view.scores("scratch")[..., -1, :]))


def acc(view: StudyView) -> Value | Undefined:
    """The mean score over all tasks at the end of training."""
    return Value(final_scores(view).mean(axis=-1))


def _forgetting(view: StudyView, least: float | None) -> Value | Undefined:
    point = backward_transfer(view.steps("sequential"), view.point.scores("sequential"), view.ends)
    if point.reason:
        return Undefined(point.reason)
    learnt = learnt_scores(view.point)[:-1]
    counts = point.learnt if least is None else point.learnt & (learnt >= least)
    if not counts.any():
        return Undefined(f"no task had a {view.curves.of} of {least:g} at its own end")
    left_out = {
        task: f"{view.curves.of} {score:z.1f} at its own end, " + (f"below {least:g}" if score > 0 else "not above 0")
        for task, score, included in zip(view.tasks, learnt, counts, strict=False)
        if not included
    }
    return Value(_mean_of_defined(lost(view)[..., :-1][..., counts]), left_out)


def _mean_of_defined(shares: FloatArray) -> FloatArray:
    """The mean along the last axis; in a resample where `C_i` is at the floor, that task has no `D_i` to count."""
    defined = ~np.isnan(shares)
    count = defined.sum(axis=-1)
    return np.asarray(np.where(defined, shares, 0.0).sum(axis=-1) / np.where(count > 0, count, np.nan))


for _metric in (
    Metric("bwt", bwt, "core", "lower", "docs/metrics/bwt.md"),
    Metric("bwt_gated", bwt_gated, "core", "lower", "docs/metrics/bwt.md"),
    Metric("fwt", fwt, "core", "higher", "docs/metrics/fwt.md", regimes=("sequential", "scratch")),
    Metric("acc", acc, "core", "higher", "Lopez-Paz & Ranzato 2017"),
):
    register_metric(_metric)

"""Metrics of the whole curves: how low a task falls, how fast, how well the agent does on the way."""

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray, Steps, mean_of_defined
from etude.curriculum.metrics.matrix import learnt, matrix
from etude.curriculum.metrics.registry import Undefined, Value, metric
from etude.curriculum.metrics.view import StudyView

DE_LANGE = "De Lange et al. 2023, Continual evaluation for lifelong learning"
MEAL = "MEAL 2025"
WINDOW = 0.1
"""The share of a task's budget that `windowed_forgetting` and `lca` look at."""


def own_window(view: StudyView, task: int) -> slice:
    """The columns of a task's own training in the sequential regime, from where it begins to `b_i`, both included."""
    begin = view.ends[task - 1] if task else 0
    first, last = np.searchsorted(view.steps("sequential"), [begin, view.ends[task]])
    return slice(int(first), int(last) + 1)


def later(view: StudyView, task: int) -> slice:
    """The columns after a task's own end, in the sequential regime."""
    return slice(own_window(view, task).stop, None)


@metric(direction="higher", source=DE_LANGE, tasks=2)
def min_acc(view: StudyView) -> Value:
    """The mean over the tasks of their lowest score after their own end."""
    return Value(_lowest(view).mean(axis=-1))


@metric(direction="higher", source=DE_LANGE, tasks=2)
def wc_acc(view: StudyView) -> Value:
    """Worst-case accuracy: the last task at its end, and the others at their lowest, weighed by their number."""
    share = 1 / len(view.tasks)
    return Value(share * matrix(view)[..., -1, -1] + (1 - share) * _lowest(view).mean(axis=-1))


@metric(direction="lower", source=DE_LANGE, tasks=2)
def stability_gap(view: StudyView) -> Value:
    """The mean drop from a task's own end to its lowest score while the next one trains."""
    scores = view.scores("sequential")
    lowest = [scores[..., j, later_one(view, j)].min(axis=-1) for j in range(len(view.tasks) - 1)]
    return Value((learnt(matrix(view))[..., :-1] - np.stack(lowest, axis=-1)).mean(axis=-1))


def later_one(view: StudyView, task: int) -> slice:
    """The columns of the training of the task after this one, its start left out."""
    window = own_window(view, task + 1)
    return slice(window.start + 1, window.stop)


@metric(direction="lower", source=DE_LANGE, tasks=2)
def windowed_forgetting(view: StudyView) -> Value | Undefined:
    """The mean of the tasks' largest drops within 10% of their own budget, at any time from their own end on."""
    steps, scores = view.steps("sequential"), view.scores("sequential")
    drops = []
    for j, task in enumerate(view.tasks[:-1]):
        first = own_window(view, j).stop - 1
        width = WINDOW * view.curves.suite.budget[task]
        drop = largest_drop(steps[first:], scores[..., j, first:], width)
        if drop is None:
            return Undefined(
                f"{task}: no two checkpoints after its own end lie within {width:g} steps, 10% of its budget"
            )
        drops.append(drop)
    return Value(np.mean(drops, axis=0))


def largest_drop(steps: Steps, curves: FloatArray, width: float) -> FloatArray | None:
    """The largest fall of curves (..., K) between two checkpoints at most `width` apart; 0 where they only rise.

    None where no two are so near.
    """
    reach = np.zeros(len(steps), np.int64)  # of each checkpoint, how many before it are near
    for lag in range(1, len(steps)):
        near = steps[lag:] - steps[:-lag] <= width
        if not near.any():
            break
        reach[lag:] += near
    if not reach.any():
        return None
    drop: FloatArray = np.zeros(curves.shape[:-1])
    highest, span = curves, 1  # the highest of the last `span` scores: two such windows cover any up to twice as long
    while True:
        ends = np.flatnonzero((reach >= span) & (reach < 2 * span))
        if len(ends):
            tops = np.maximum(highest[..., ends], highest[..., ends - reach[ends] + span - 1])
            drop = np.maximum(drop, (tops - curves[..., ends]).max(axis=-1))
        if 2 * span > reach.max():
            return drop
        doubled = np.maximum(highest[..., span:], highest[..., :-span])
        highest, span = np.concatenate([highest[..., :span], doubled], axis=-1), 2 * span


@metric(direction="higher", source="Caccia et al. 2022, New insights on reducing abrupt representation change")
def aaa(view: StudyView) -> Value:
    """Average anytime accuracy: the mean over the checkpoints of the mean score of the tasks begun so far."""
    steps, scores = view.steps("sequential"), view.scores("sequential")
    begun = np.array([own_window(view, j).start + 1 for j in range(len(view.tasks))])
    counts = np.searchsorted(begun, np.arange(len(steps)), side="right")
    parts = [scores[..., j, first:] @ (1 / counts[first:]) for j, first in enumerate(begun)]
    return Value(np.sum(parts, axis=0) / (len(steps) - 1))


@metric(direction="higher", source="Chaudhry et al. 2019, Efficient lifelong learning with A-GEM")
def lca(view: StudyView) -> Value | Undefined:
    """Learning curve area: the mean score at the checkpoints of the first 10% of a task's budget, over the tasks."""
    steps, scores = view.steps("sequential"), view.scores("sequential")
    means = []
    for j, task in enumerate(view.tasks):
        window = own_window(view, j)
        early = np.flatnonzero(steps[window] - steps[window.start] <= WINDOW * view.curves.suite.budget[task])
        if len(early) < 2:
            return Undefined(
                f"{task}: fewer than 2 checkpoints in the first 10% of its budget (evaluation.also adds some)"
            )
        means.append(scores[..., j, window.start : window.start + len(early)].mean(axis=-1))
    return Value(np.mean(means, axis=0))


@metric(direction="lower", source=MEAL, tasks=2)
def curve_forgetting(view: StudyView) -> Value | Undefined:
    """The mean share of a task's learnt score that is missing at the checkpoints after its own end."""
    return _missing(view, decay=0.0)


@metric(direction="lower", source=MEAL, tasks=2)
def curve_forgetting_early(view: StudyView) -> Value | Undefined:
    """The same with weights that fall from 1 at the first of these checkpoints to exp(-2) at the last."""
    return _missing(view, decay=2.0)


def _missing(view: StudyView, decay: float) -> Value | Undefined:
    steps, scores = view.steps("sequential"), view.scores("sequential")
    reached = learnt(matrix(view))
    shares: list[FloatArray] = []
    left_out: dict[str, str] = {}
    for j, task in enumerate(view.tasks[:-1]):
        point = learnt(matrix(view.point))[j]
        if point <= 0:
            left_out[task] = f"{view.curves.of} {point:z.1f} at its own end, not above 0"
            continue
        after = steps[later(view, j)]
        age = (after - after[0]) / max(after[-1] - after[0], 1)
        weights = np.exp(-decay * age)
        top = reached[..., j]
        missing = np.maximum(0.0, top[..., None] - scores[..., j, later(view, j)])
        shares.append(missing @ (weights / weights.sum()) / np.where(top > 0, top, np.nan))
    if not shares:
        return Undefined("no task was learnt: none scored above the floor at its own end")
    return Value(mean_of_defined(np.stack(shares, axis=-1)), left_out)


def _lowest(view: StudyView) -> FloatArray:
    scores = view.scores("sequential")
    return np.stack([scores[..., j, later(view, j)].min(axis=-1) for j in range(len(view.tasks) - 1)], axis=-1)

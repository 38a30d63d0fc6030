"""What training on one task takes from the others, or gives them: CORA's matrix and l2metrics' contrasts."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from etude.curriculum.metrics.arrays import FloatArray, mean_of_defined
from etude.curriculum.metrics.matrix import learnt, matrix
from etude.curriculum.metrics.once import once
from etude.curriculum.metrics.registry import Undefined, Value, metric
from etude.curriculum.metrics.trajectory import later
from etude.curriculum.metrics.view import StudyView

CORA = "Powers et al. 2022, CORA: benchmarks, baselines, and metrics for continual reinforcement learning"
L2 = "New et al. 2021, l2metrics: lifelong learning metrics"


@metric(direction="none", source=CORA, tasks=2)
def interference(view: StudyView) -> Value | Undefined:
    """Row i, column j: how much task j fell across the training of task i, over the largest |score| task j ever had.

    The diagonal is nan: it would be the learning itself.
    """
    largest = _largest(view.point)
    if (largest == 0).any():
        return Undefined(f"{view.tasks[int(np.argmin(largest))]}: its {view.curves.of} is 0 at every checkpoint")
    scores, largest = matrix(view), _largest(view)
    taken = (scores[..., :-1, :] - scores[..., 1:, :]) / np.where(largest > 0, largest, np.nan)[..., None, :]
    taken[..., range(len(view.tasks)), range(len(view.tasks))] = np.nan
    return Value(taken, labels=(view.tasks, view.tasks))


@metric(direction="lower", source=CORA, tasks=2)
def isolated_forgetting(view: StudyView) -> Value | Undefined:
    """The mean of the interference below the diagonal: what a task takes from one already learnt."""
    return _mean_of(view, np.tril_indices(len(view.tasks), -1), 1)


@metric(direction="higher", source=CORA, tasks=2)
def zero_shot_transfer(view: StudyView) -> Value | Undefined:
    """The mean of the interference above the diagonal, with the sign turned: what it gives to one not yet begun."""
    return _mean_of(view, np.triu_indices(len(view.tasks), 1), -1)


@metric(direction="higher", source=L2, tasks=2)
def l2_performance_maintenance(view: StudyView) -> Value:
    """The mean of a task's score at the checkpoints after its own end, less its score there; then over the tasks."""
    scores, reached = view.scores("sequential"), learnt(matrix(view))
    changes = [scores[..., j, later(view, j)] - reached[..., j, None] for j in range(len(view.tasks) - 1)]
    return Value(np.mean([change.mean(axis=-1) for change in changes], axis=0))


@metric(direction="higher", source=L2, tasks=2)
def l2_forward_transfer(view: StudyView) -> Value | Undefined:
    """The mean contrast of a task not yet begun across the training of another."""
    n = len(view.tasks)
    return _contrasts(view, [(i, j) for i in range(n) for j in range(i + 1, n)])


@metric(direction="higher", source=L2, tasks=2)
def l2_backward_transfer(view: StudyView) -> Value | Undefined:
    """The mean contrast of a task already learnt across the training of another."""
    return _contrasts(view, [(i, j) for i in range(len(view.tasks)) for j in range(i)])


def _contrasts(view: StudyView, pairs: Iterable[tuple[int, int]]) -> Value | Undefined:
    """The mean over pairs (i, j) of `(after - before) / (after + before)` of task j across the training of task i."""
    scores, point = matrix(view), matrix(view.point)
    contrasts: list[FloatArray] = []
    left_out: dict[str, str] = {}
    for i, j in pairs:
        if point[i, j] + point[i + 1, j] <= 0:
            left_out[f"{view.tasks[j]} across {view.tasks[i]}"] = (
                f"{view.curves.of} {point[i, j]:z.1f} before, {point[i + 1, j]:z.1f} after: no sum above 0 to divide by"
            )
            continue
        before, after = scores[..., i, j], scores[..., i + 1, j]
        total = after + before
        contrasts.append((after - before) / np.where(total > 0, total, np.nan))
    if not contrasts:
        return Undefined("no pair of tasks has scores before and after whose sum is above 0")
    return Value(mean_of_defined(np.stack(contrasts, axis=-1)), left_out)


def _mean_of(view: StudyView, places: tuple[NDArray[np.intp], NDArray[np.intp]], sign: int) -> Value | Undefined:
    whole = interference(view)
    if isinstance(whole, Undefined):
        return whole
    return Value(sign * np.asarray(whole.value)[..., places[0], places[1]].mean(axis=-1))


@once
def _largest(view: StudyView) -> FloatArray:
    """(..., N) the largest |score| of every task over the checkpoints at which it was evaluated."""
    scores = view.scores("sequential")
    evaluated = ~np.isnan(view.point.scores("sequential"))
    largest = []
    for j, columns in enumerate(evaluated):
        curve = scores[..., j, columns]
        largest.append(np.maximum(curve.max(axis=-1), -curve.min(axis=-1)))
    return np.stack(largest, axis=-1)

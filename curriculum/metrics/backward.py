"""Backward transfer (BWT): the share of what was learnt of each task that is lost while later ones train."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.curriculum.metrics.arrays import FloatArray, Steps, checked_scores, checked_steps, number
from etude.envs.errors import RequestError


@dataclass(frozen=True, eq=False)
class BackwardTransfer:
    """The forgetting of N tasks, the last of which is the composition.

    Attributes:
        value: mean of `per_task` over the learnt tasks, 0 to 100, lower is better; None if undefined.
        per_task: (N-1,) `D_i`, 0 to 100; nan for a task that was not learnt.
        learnt: (N-1,) whether `C_i`, the score at the task's own end, lies above the floor.
        ceilings: (N-1,) the most `D_i` can reach with these checkpoints.
        reason: why `value` is undefined; None if it is defined.
    """

    value: float | None
    per_task: FloatArray
    learnt: NDArray[np.bool_]
    ceilings: FloatArray
    reason: str | None


def backward_transfer(steps: ArrayLike, scores: ArrayLike, ends: ArrayLike, floor: float = 0.0) -> BackwardTransfer:
    """How much of each task's score is lost, on average over the rest of the training.

    `D_i = 100 ∫_{b_i}^{b_N} max(0, C_i - R_i(s)) ds / ((b_N - b_i) (C_i - f))` with `C_i = R_i(b_i)`, for i < N and
    `C_i > f`, where R is clipped below at the floor f; the maximum is taken at the checkpoints and integrated by the
    trapezoidal rule. The value is the mean of D_i over the learnt tasks. Definition: docs/metrics/bwt.md. It is not
    the BWT of Lopez-Paz and Ranzato (2017), which compares two points and is higher-is-better.

    Args:
        steps: (K,) checkpoints in environment steps, increasing.
        scores: (N, K) score of each task at each checkpoint; the tasks in the order they were trained, the
            composition last. May be nan before a task's own end, never at or after it.
        ends: (N,) the checkpoint at which each task's own training ends, b_1..b_N.
        floor: the score of a policy that has learnt nothing.

    Raises:
        RequestError: shapes do not fit, steps do not increase, an end is not a checkpoint or lies before the one
            before it, a score is not finite at or after its task's own end.
    """
    steps = checked_steps(steps)
    scores = checked_scores("scores", scores, (None, len(steps)))
    ends = np.asarray(ends, dtype=np.float64)
    if not np.isfinite(floor):
        raise RequestError(f"floor: {floor} is not a finite number")
    _check_ends(steps, scores, ends)

    ceilings = measurable_shares(steps, ends)
    tasks = len(ends)
    own_ends = np.searchsorted(steps, ends)
    learnt = scores[np.arange(tasks - 1), own_ends[:-1]] > floor
    per_task = lost_shares(steps, scores, ends, floor)
    reason = None
    if tasks < 2:
        reason = "needs at least 2 tasks"
    elif np.isnan(ceilings).any():
        task = int(np.flatnonzero(np.isnan(ceilings))[0])
        reason = f"fewer than 2 checkpoints from the end of task {task} to the end of training"
    elif not learnt.any():
        reason = "no task was learnt: none scored above the floor at its own end"
    value = None if reason else float(per_task[learnt].mean())
    return BackwardTransfer(value, per_task, learnt, ceilings, reason)


def lost_shares(steps: Steps, scores: FloatArray, ends: Steps, floor: float = 0.0) -> FloatArray:
    """`D_i` of every task but the last, for any number of curves at once; arguments are not checked.

    Args:
        steps: (K,) checkpoints.
        scores: (..., N, K) any leading axes, such as bootstrap resamples.
        ends: (N,) each a checkpoint.
        floor: as in `backward_transfer`.

    Returns:
        (..., N-1), nan where `C_i <= floor` or the window holds a single checkpoint.
    """
    own_ends = np.searchsorted(steps, ends)
    last = own_ends[-1]
    shares = np.full((*scores.shape[:-2], len(ends) - 1), np.nan)
    for task, first in enumerate(own_ends[:-1]):
        if first == last:
            continue
        window = slice(first, last + 1)
        learnt_score = scores[..., task, first, None]
        margin = np.where(learnt_score > floor, learnt_score - floor, np.nan)
        deficits = np.maximum(0.0, learnt_score - np.maximum(scores[..., task, window], floor)) / margin
        shares[..., task] = 100 * np.trapezoid(deficits, steps[window]) / (steps[last] - steps[first])
    return shares


def measurable_shares(steps: Steps, ends: Steps) -> FloatArray:
    """The most each `D_i` can reach, `100 (1 - Δ / (2 (b_N - b_i)))`, Δ being the first interval after b_i.

    At b_i itself the deficit is 0, so even a score that falls to the floor at once loses half of that interval.

    Args:
        steps: (K,) checkpoints.
        ends: (N,) each a checkpoint.

    Returns:
        (N-1,), nan where the window holds a single checkpoint.
    """
    own_ends = np.searchsorted(steps, ends)
    last = own_ends[-1]
    ceilings = np.full(len(ends) - 1, np.nan)
    for task, first in enumerate(own_ends[:-1]):
        if first < last:
            ceilings[task] = 100 * (1 - (steps[first + 1] - steps[first]) / (2 * (steps[last] - steps[first])))
    return ceilings


def _check_ends(steps: FloatArray, scores: FloatArray, ends: FloatArray) -> None:
    if ends.shape != scores.shape[:1] or len(ends) == 0:
        raise RequestError(f"ends: shape {ends.shape}, but {len(scores)} rows of scores need ({max(len(scores), 1)},)")
    if (np.diff(ends) < 0).any():
        raise RequestError("ends: a task's end lies before that of the task before it")
    for task, end in enumerate(ends):
        if end not in steps:
            raise RequestError(f"ends: {number(end)}, the end of task {task}, is not among the checkpoints")
        wrong = np.flatnonzero((steps >= end) & ~np.isfinite(scores[task]))
        if len(wrong):
            raise RequestError(
                f"scores: task {task} has {scores[task, wrong[0]]} at step {number(steps[wrong[0]])}, "
                f"but must have a finite score from its own end ({number(end)}) on"
            )

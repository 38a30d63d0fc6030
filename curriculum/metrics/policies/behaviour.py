"""What is measured of a policy's actions and values, as plain functions of arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from etude.curriculum.metrics.arrays import FloatArray
from etude.envs.errors import RequestError

BINS = 15
SAME = 1e-6
"""Actions whose distances differ by no more are equally near."""


def nearest_shares(actions: ArrayLike, references: ArrayLike, own: int) -> FloatArray:
    """The share of steps whose action lies nearest each task's, (N,); they sum to 1.

    Where several are equally near, the step counts as the own task's if that is one of them, else in equal parts.

    Args:
        actions: (n, A) what the policy did.
        references: (N, n, A) what each task's oracle would have done; nan of one that cannot act there.
        own: which of the N is the task that is played.

    Returns:
        nan for a task whose oracle cannot act there.

    Raises:
        RequestError: the shapes do not fit, or the own task's oracle cannot act.
    """
    acted, wanted = np.asarray(actions, np.float64), np.asarray(references, np.float64)
    if acted.ndim != 2 or wanted.ndim != 3 or wanted.shape[1:] != acted.shape:
        raise RequestError(f"references: shape {wanted.shape}, must be (N, *{acted.shape}) to fit the actions")
    able = np.asarray(~np.isnan(wanted).any(axis=(1, 2)))
    if not able[own]:
        raise RequestError("references: the own task's actions must be numbers")
    distances = np.where(able[:, None], np.linalg.norm(wanted - acted, axis=2), np.inf)
    near = distances <= distances.min(axis=0) + SAME
    near[:, near[own]] = False
    near[own] |= ~near.any(axis=0)
    shares: FloatArray = (near / near.sum(axis=0)).mean(axis=1)
    return np.where(able, shares, np.nan)


def calibration_error(predicted: ArrayLike, observed: ArrayLike, bins: int = BINS) -> float:
    """The expected absolute gap between a prediction and what came of it (after Guo et al. 2017).

    Predictions are sorted into bins of equal width between the smallest and the largest; of each bin the mean
    prediction is compared with the mean of what was observed, and the gaps are averaged by the bins' sizes.

    Args:
        predicted: (n,).
        observed: (n,) in the same unit.
        bins: how many.

    Raises:
        RequestError: they are not one-dimensional and equally long.
    """
    values, came = np.asarray(predicted, np.float64), np.asarray(observed, np.float64)
    if values.ndim != 1 or values.shape != came.shape or not len(values):
        raise RequestError(f"observed: shape {came.shape}, must be that of predicted, {values.shape}, and not empty")
    low, high = values.min(), values.max()
    width = (high - low) / bins
    place = np.clip((values - low) / width if width > 0 else np.zeros(len(values)), 0, bins - 1).astype(np.intp)
    gaps = np.bincount(place, values - came, minlength=bins)
    return float(np.abs(gaps).sum() / len(values))


def barrier(path: ArrayLike) -> float:
    """The largest fall of a score below the straight line between its ends (after Mirzadeh et al. 2021); at least 0.

    Args:
        path: (P,) the score at equal distances along the segment between two networks' weights.

    Raises:
        RequestError: there are fewer than 2 points.
    """
    scores = np.asarray(path, np.float64)
    if scores.ndim != 1 or len(scores) < 2:
        raise RequestError(f"path: shape {scores.shape}, must be (P,) with at least 2 points")
    line = np.linspace(scores[0], scores[-1], len(scores))
    return float(max(0.0, (line - scores).max()))


def cosines(vectors: ArrayLike) -> FloatArray:
    """The cosine of the angle between every two of N vectors, (N, N); nan with a vector that is 0.

    Args:
        vectors: (N, P).

    Raises:
        RequestError: they are no matrix.
    """
    rows = np.asarray(vectors, np.float64)
    if rows.ndim != 2:
        raise RequestError(f"vectors: shape {rows.shape}, must be (N, P)")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units = rows / np.where(lengths > 0, lengths, np.nan)
    return np.clip(units @ units.T, -1, 1)


def off_diagonal_mean(matrix: FloatArray) -> float:
    """The mean of a square matrix's entries off its diagonal; nan where there are none."""
    off = matrix[~np.eye(len(matrix), dtype=np.bool_)]
    return float(off.mean()) if len(off) else float("nan")

"""The checks that the metrics on plain arrays share."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.envs.errors import RequestError

FloatArray = NDArray[np.float64]
Steps = NDArray[np.float64] | NDArray[np.int64]


def checked_steps(steps: ArrayLike) -> FloatArray:
    """The checkpoints as (K,) float64.

    Raises:
        RequestError: not one-dimensional, empty, not finite, or not increasing.
    """
    array = np.asarray(steps, dtype=np.float64)
    if array.ndim != 1 or len(array) == 0:
        raise RequestError(f"steps: shape {array.shape}, must be (K,) with at least one checkpoint")
    if not np.isfinite(array).all():
        raise RequestError("steps: must be finite numbers")
    wrong = np.flatnonzero(np.diff(array) <= 0)
    if len(wrong):
        before, after = array[wrong[0] : wrong[0] + 2]
        raise RequestError(f"steps: must increase, but {number(after)} follows {number(before)}")
    return array


def checked_scores(name: str, scores: ArrayLike, shape: tuple[int | None, ...]) -> FloatArray:
    """Scores as float64 of the wanted shape, where None stands for any length.

    Raises:
        RequestError: the shape is another.
    """
    array = np.asarray(scores, dtype=np.float64)
    fits = array.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
    if not fits:
        wanted = ", ".join("N" if length is None else str(length) for length in shape)
        comma = "," if len(shape) == 1 else ""
        raise RequestError(f"{name}: shape {array.shape}, must be ({wanted}{comma}) to fit the steps")
    return array


def number(value: float) -> str:
    """A step as a person writes it: 61440, not 61440.0."""
    return str(int(value)) if float(value).is_integer() else str(float(value))


def mean_of_defined(values: FloatArray) -> FloatArray:
    """The mean along the last axis of what is not nan; nan where nothing is defined.

    A resample may leave a task without a value that has one at the point estimate: there it does not count.
    """
    defined = ~np.isnan(values)
    count = defined.sum(axis=-1)
    return np.asarray(np.where(defined, values, 0.0).sum(axis=-1) / np.where(count > 0, count, np.nan))

"""The shaping that all tabletop rewards share."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LINEAR_SHARE = 0.5


def closeness(distance: Floats, far: float, near: float) -> Floats:
    """How close something is: 1 at distance 0, strictly falling up to `far`, 0 beyond what both parts reach.

    Half of it is linear, so that it never fades between here and `far`; half is `1 - tanh`, for precision at the end.

    Args:
        distance: (N,) metres.
        far: where the linear part ends, metres.
        near: length scale of the sharp part, metres.
    """
    linear = np.clip(1 - distance / far, 0, 1)
    return LINEAR_SHARE * linear + (1 - LINEAR_SHARE) * (1 - np.tanh(distance / near))


def staged(stage: NDArray[np.int_], progress: Floats, stages: int) -> Floats:
    """A composition's reward, `(k + progress) / K`, (N,).

    Args:
        stage: (N,) stages done, k.
        progress: (N,) progress within the stage, in [0, 1].
        stages: their number, K.
    """
    return (stage + progress) / stages

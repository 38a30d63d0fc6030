"""The shaping that all tabletop rewards share."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LINEAR_SHARE = 0.5


def closeness(distance: Floats, within: float, far: float, near: float) -> Floats:
    """How close something is, (N,): 1 within `within`, and falling all the way from there.

    A share of it is linear, so that it does not fade between here and `far`; the rest is `1 - tanh`, steep at the end.

    Args:
        distance: (N,) metres.
        within: metres at which it could not be closer.
        far: where the linear part reaches 0, metres; beyond the farthest that matters.
        near: length scale of the steep part, metres.
    """
    beyond = np.maximum(distance - within, 0)
    linear: Floats = np.clip(1 - beyond / far, 0, 1)
    steep: Floats = 1 - np.tanh(beyond / near)
    return LINEAR_SHARE * linear + (1 - LINEAR_SHARE) * steep


def staged(stage: NDArray[np.int_], progress: Floats, stages: int) -> Floats:
    """A composition's reward, `(k + progress) / K`, (N,).

    Args:
        stage: (N,) stages done, k.
        progress: (N,) within the present stage, in [0, 1).
        stages: their number, K.
    """
    return (stage + progress) / stages

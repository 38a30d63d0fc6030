"""The shaping that all tabletop rewards share."""

from collections.abc import Callable, Sequence

import numpy as np

from etude.envs.tabletop.scene import Floats, Scene

ALMOST = 1 - 1e-9


def closeness(distance: Floats, within: float, far: float, near: float) -> Floats:
    """How close something is, (N,): 1 within `within`, and falling all the way from there.

    Half of it is linear, so that it does not fade between here and `far`; half is `1 - tanh`, steep at the end.

    Args:
        distance: (N,) metres.
        within: metres at which it could not be closer.
        far: where the linear part reaches 0, metres; beyond the farthest that matters.
        near: length scale of the steep part, metres.
    """
    beyond = np.maximum(distance - within, 0)
    linear = np.maximum(1 - beyond / far, 0)
    steep = 1 - np.tanh(beyond / near)
    close: Floats = (linear + steep) / 2
    return close


def staged(scene: Scene, stage: Floats, progresses: Sequence[Callable[[Scene], Floats]]) -> Floats:
    """A composition's reward, `(k + progress) / K`, (N,).

    Args:
        scene: the scene.
        stage: (N,) stages done, k, in 0..K.
        progresses: of each of the K stages, what computes its progress, (N,) in [0, 1]; 1 counts as ALMOST.
    """
    progress = np.zeros(scene.size)
    for k in set(stage.tolist()).intersection(range(len(progresses))):
        np.copyto(progress, progresses[int(k)](scene), where=stage == k)
    reward: Floats = (stage + np.minimum(progress, ALMOST)) / len(progresses)
    return reward

"""open-drawer: behind the handle, and pull."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import DRAWER_OPEN, SHUT_HANDLE, Scene
from etude.envs.tabletop.starts import TABLE_WORDS, arrange
from etude.envs.task import Task

UNSOLVED, APPROACH = 0.3, 0.4
WITHIN, FAR, NEAR = 0.02, 1.0, 0.1
HOOKED = np.array([0, -0.015, 0])
HALF_PAD = np.array([0, 0.006, 0])


class OpenDrawer(Task):
    """Open the drawer, and keep it open."""

    id = "open-drawer"
    horizon = 60
    starts = TABLE_WORDS

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts; the goal marks the handle."""
        arrange(scene, ids, rngs)
        scene.goal[ids] = scene.cabinet[ids] + SHUT_HANDLE

    def advance(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """The goal follows the handle, so that an agent which goes to goals does not hold the drawer shut."""
        scene.goal[ids] = scene.handle[ids]

    def reward(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the left finger to behind the handle, then the opening."""
        return np.where(self.success(scene), 1.0, UNSOLVED * drawer_progress(scene))

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The drawer is open by more than DRAWER_OPEN."""
        return is_open(scene)


def is_open(scene: Scene) -> NDArray[np.bool_]:
    """Whether the drawer is open by more than DRAWER_OPEN, (N,)."""
    opened: NDArray[np.bool_] = scene.drawer_opening > DRAWER_OPEN
    return opened


def drawer_progress(scene: Scene) -> NDArray[np.float64]:
    """Towards an open drawer, (N,) in [0, 1]: closeness of the left finger to behind the handle, then the opening."""
    finger = scene.tcp - HALF_PAD
    finger[:, 1] -= scene.fingers[:, 0]
    distance = scene.distance(scene.handle + HOOKED, finger)
    opening = np.minimum(np.maximum(scene.drawer_opening / DRAWER_OPEN, 0), 1)
    return APPROACH * closeness(distance, WITHIN, FAR, NEAR) + (1 - APPROACH) * opening

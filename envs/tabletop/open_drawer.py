"""open-drawer: behind the handle, and pull."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import DRAWER_OPEN, Scene
from etude.envs.tabletop.starts import TABLE_WORDS, arrange
from etude.envs.task import Task

APPROACH, PULL = 0.2, 0.2
FAR, NEAR = 0.7, 0.1


class OpenDrawer(Task):
    """Open the drawer, and keep it open."""

    id = "open-drawer"
    horizon = 60
    starts = TABLE_WORDS

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts."""
        arrange(scene, ids, rngs)

    def reward(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the finger tips to the handle, then the opening."""
        return np.where(self.success(scene), 1.0, drawer_progress(scene))

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The drawer is open by more than DRAWER_OPEN."""
        return scene.drawer_opening > DRAWER_OPEN


def drawer_progress(scene: Scene) -> NDArray[np.float64]:
    """Towards an open drawer, (N,): closeness of the finger tips to the handle, then the opening."""
    distance = scene.distance(scene.handle, scene.tcp)
    return APPROACH * closeness(distance, FAR, NEAR) + PULL * np.clip(scene.drawer_opening / DRAWER_OPEN, 0, 1)

"""open-drawer: behind the handle, and pull."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import DRAWER_OPEN, SHUT_HANDLE, Scene
from etude.envs.tabletop.starts import TABLE_WORDS, arrange

APPROACH = 0.4
WITHIN, FAR, NEAR = 0.045, 1.0, 0.1


class OpenDrawer(Primitive):
    """Open the drawer, and keep it open."""

    id = "open-drawer"
    horizon = 60
    starts = TABLE_WORDS

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts; the goal marks the handle of the shut drawer."""
        arrange(scene, ids, rngs)
        self.mark(scene, ids)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal where the handle is while the drawer is shut."""
        scene.goal[ids] = scene.cabinet[ids] + SHUT_HANDLE

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the finger tips to the handle, then the opening."""
        distance = scene.distance(scene.handle, scene.tcp)
        opening = np.clip(scene.drawer_opening / DRAWER_OPEN, 0, 1)
        return APPROACH * closeness(distance, WITHIN, FAR, NEAR) + (1 - APPROACH) * opening

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The drawer is open by more than DRAWER_OPEN."""
        return scene.drawer_opening > DRAWER_OPEN

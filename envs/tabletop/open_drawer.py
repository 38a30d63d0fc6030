"""open-drawer: behind the handle, and pull."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import DRAWER_OPEN, SHUT_HANDLE, Scene, share
from etude.envs.tabletop.starts import TABLE_WORDS, arrange

APPROACH = 0.4
WITHIN, FAR, NEAR = 0.02, 1.0, 0.1
HOOKED = np.array([0, -0.015, 0])
OVER = np.array([0, -0.015, 0.03])
BEHIND = -0.008
HALF_PAD = np.array([0, 0.006, 0])


class OpenDrawer(Primitive):
    """Open the drawer, and keep it open."""

    id = "open-drawer"
    horizon = 60
    starts = TABLE_WORDS

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts; the goal marks the handle."""
        arrange(scene, ids, rngs)
        self.mark(scene, ids)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal where the handle is while the drawer is shut."""
        scene.goal[ids] = scene.cabinet[ids] + SHUT_HANDLE

    def advance(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """The goal follows the handle, so that an agent which goes to goals does not hold the drawer shut."""
        scene.goal[ids] = scene.handle[ids]

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the left finger to behind the handle, by way of over it, then the opening."""
        finger = scene.tcp - HALF_PAD
        finger[:, 1] -= scene.fingers[:, 0]
        behind = finger[:, 1] - scene.handle[:, 1] < BEHIND
        over = scene.distance(scene.handle + OVER, finger) + OVER[2]
        distance = np.where(behind, scene.distance(scene.handle + HOOKED, finger), over)
        opening = share(scene.drawer_opening / DRAWER_OPEN)
        return APPROACH * closeness(distance, WITHIN, FAR, NEAR) + (1 - APPROACH) * opening

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The drawer is open by more than DRAWER_OPEN."""
        return scene.drawer_opening > DRAWER_OPEN

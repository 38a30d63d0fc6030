"""open-drawer: behind the handle, and pull."""

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import DRAWER_OPEN, SHUT_HANDLE, Scene, share

APPROACH = 0.4
WITHIN, FAR, NEAR = 0.02, 1.0, 0.1
HOOKED = np.array([0, -0.015, 0])
OVER = np.array([0, -0.015, 0.03])
BEHIND, BAR = -0.008, 0.012
HALF_PAD = np.array([0, 0.006, 0])


class OpenDrawer(Primitive):
    """Open the drawer, and keep it open."""

    id = "open-drawer"
    horizon = 60

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
        before = share((finger[:, 1] - scene.handle[:, 1] - BEHIND) / BAR)
        through = scene.distance(scene.handle + HOOKED, finger)
        over = scene.distance(scene.handle + OVER, finger) + OVER[2]
        distance = through + (over - through) * before
        opening = share(scene.drawer_opening / DRAWER_OPEN)
        return APPROACH * closeness(distance, WITHIN, FAR, NEAR) + (1 - APPROACH) * opening

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The drawer is open by more than DRAWER_OPEN."""
        return scene.drawer_opening > DRAWER_OPEN

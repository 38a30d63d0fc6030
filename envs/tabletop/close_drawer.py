"""close-drawer: in front of the handle, and push."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import DRAWER_TRAVEL, SHUT_HANDLE, Scene, share
from etude.envs.tabletop.starts import TABLE_WORDS, arrange

DRAWER_SHUT = 0.1 * DRAWER_TRAVEL
OPENING = np.array([0.08, DRAWER_TRAVEL])
IN_FRONT = np.array([0, 0.06, 0])
APPROACH = 0.4
WITHIN, FAR, NEAR = 0.03, 1.0, 0.1


class CloseDrawer(Primitive):
    """Shut the drawer, and keep it shut."""

    id = "close-drawer"
    horizon = 50
    starts = f"drawer open by {100 * OPENING[0]:.0f} to {100 * OPENING[1]:.0f} cm; {TABLE_WORDS}"

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts, the drawer open."""
        arrange(scene, ids, rngs)
        draws = np.array([rng.random() for rng in rngs])
        scene.drawer_opening[ids] = OPENING[0] + (OPENING[1] - OPENING[0]) * draws
        self.mark(scene, ids)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal where the finger tips are once they have shut the drawer."""
        scene.goal[ids] = scene.cabinet[ids] + SHUT_HANDLE + IN_FRONT

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the finger tips to the place before the handle, then the closing."""
        distance = scene.distance(scene.handle + IN_FRONT, scene.tcp)
        opening = share((scene.drawer_opening - DRAWER_SHUT) / (DRAWER_TRAVEL - DRAWER_SHUT))
        return APPROACH * closeness(distance, WITHIN, FAR, NEAR) + (1 - APPROACH) * (1 - opening)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The drawer is open by less than DRAWER_SHUT."""
        return scene.drawer_opening < DRAWER_SHUT

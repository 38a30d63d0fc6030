"""unlock-drawer: the button releases the drawer's lock, then the drawer is opened."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.open_drawer import drawer_progress, is_open
from etude.envs.tabletop.press_button import button_progress, is_pressed, mark_button
from etude.envs.tabletop.rewards import staged
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import TABLE_WORDS, arrange
from etude.envs.task import Task

UNLOCKED = 0


class UnlockDrawer(Task):
    """Press the button that unlocks the drawer, then open the drawer and keep it open."""

    id = "unlock-drawer"
    kind = "composition"
    parts = ("press-button", "open-drawer")
    horizon = 80
    starts = f"drawer locked; {TABLE_WORDS}"

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts, the drawer locked; the goal marks the pressed button."""
        arrange(scene, ids, rngs)
        mark_button(scene, ids)
        scene.drawer_locked[ids] = 1

    def advance(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """A pressed button unlocks the drawer for good, and the goal moves on to the handle, which it follows."""
        pressed = ids[is_pressed(scene)[ids]]
        scene.latch[pressed, UNLOCKED] = 1
        scene.drawer_locked[pressed] = 0
        unlocked = ids[scene.latch[ids, UNLOCKED] > 0]
        scene.goal[unlocked] = scene.handle[unlocked]

    def reward(self, scene: Scene) -> NDArray[np.float64]:
        """Staged: what press-button shapes, then what open-drawer shapes."""
        shaped = staged(scene, scene.latch[:, UNLOCKED], (button_progress, drawer_progress))
        return np.where(self.success(scene), 1.0, shaped)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The drawer is open by more than DRAWER_OPEN."""
        return is_open(scene)

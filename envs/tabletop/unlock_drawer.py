"""unlock-drawer: the button releases the drawer's lock, then the drawer is opened."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.composition import Composition
from etude.envs.tabletop.open_drawer import OpenDrawer
from etude.envs.tabletop.press_button import PressButton
from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import TABLE_WORDS


class UnlockDrawer(Composition):
    """Press the button that unlocks the drawer, then open the drawer and keep it open."""

    id = "unlock-drawer"
    stages: ClassVar[tuple[Primitive, ...]] = (PressButton(), OpenDrawer())
    horizon = 80
    starts = f"drawer locked; {TABLE_WORDS}"

    def prepare(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The drawer is locked."""
        scene.drawer_locked[ids] = 1

    def enter(self, scene: Scene, ids: NDArray[np.intp], stage: int) -> None:
        """A pressed button unlocks the drawer for good."""
        super().enter(scene, ids, stage)
        if self.stages[stage].id == OpenDrawer.id:
            scene.drawer_locked[ids] = 0

"""stow: open the drawer, drop the cube in, and shut it."""

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.carry import Carry
from etude.envs.tabletop.close_drawer import CloseDrawer
from etude.envs.tabletop.composition import Composition
from etude.envs.tabletop.drop_in_drawer import DropInDrawer
from etude.envs.tabletop.grasp import Grasp
from etude.envs.tabletop.lift import Lift
from etude.envs.tabletop.open_drawer import OpenDrawer
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import TABLE_WORDS

OVER_DRAWER = np.array([0, 0.17, 0.16])


class CarryOverDrawer(Carry):
    """Carry the grasped cube over the open drawer."""

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal over the middle of what of the drawer is not under the cabinet's top."""
        scene.goal[ids] = scene.cabinet[ids] + OVER_DRAWER


class CloseDrawerOnCube(CloseDrawer):
    """Shut the drawer in which the cube lies."""

    def ready(self, scene: Scene) -> NDArray[np.bool_]:
        """Whether the cube is in the drawer."""
        return scene.cube_in_drawer


class Stow(Composition):
    """Open the drawer, put the cube in, and shut it."""

    id = "stow"
    stages = (OpenDrawer(), Grasp(), Lift(), CarryOverDrawer(), DropInDrawer(), CloseDrawerOnCube())
    horizon = 130
    starts = f"drawer shut; {TABLE_WORDS}"

"""retrieve: open the drawer, and put the cube that lies in it down on the target."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.carry import Carry
from etude.envs.tabletop.composition import Composition
from etude.envs.tabletop.grasp import Grasp
from etude.envs.tabletop.lift import Lift
from etude.envs.tabletop.open_drawer import OpenDrawer
from etude.envs.tabletop.place import Place
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import CUBE_YAW, FURNITURE_WORDS, PAD_WORDS, drawn, extent

IN_DRAWER = np.array([[-0.075, -0.06], [0.075, 0.0]])
FLOOR = 0.024


class Retrieve(Composition):
    """Open the drawer, take the cube out of it, and put it down on the target."""

    id = "retrieve"
    stages = (OpenDrawer(), Grasp(), Lift(), Carry(), Place())
    horizon = 130
    starts = (
        f"robot at home; cube in the shut drawer over {extent(IN_DRAWER)} and ±{np.degrees(CUBE_YAW):.0f}° of yaw; "
        f"{PAD_WORDS}; {FURNITURE_WORDS}"
    )

    def prepare(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The cube lies in the drawer."""
        scene.cube[ids, :2] = scene.cabinet[ids, :2] + drawn(IN_DRAWER, rngs)
        scene.cube[ids, 2] += FLOOR

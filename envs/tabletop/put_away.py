"""put-away: fetch the cube, and drop it into the drawer, which is open."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.composition import Composition
from etude.envs.tabletop.drop_in_drawer import OPENING, DropInDrawer
from etude.envs.tabletop.grasp import Grasp
from etude.envs.tabletop.lift import Lift
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import TABLE_WORDS, drawn
from etude.envs.tabletop.stow import CarryOverDrawer


class PutAway(Composition):
    """Fetch the cube from where it lies, and drop it into the open drawer."""

    id = "put-away"
    stages = (Grasp(), Lift(), CarryOverDrawer(), DropInDrawer())
    horizon = 80
    starts = f"drawer open; {TABLE_WORDS}"

    def prepare(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The drawer is open."""
        scene.drawer_opening[ids] = drawn(OPENING, rngs)[:, 0]

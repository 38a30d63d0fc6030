"""stack-from-table: fetch the cube, and put it down on the base."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.carry import Carry
from etude.envs.tabletop.composition import Composition
from etude.envs.tabletop.grasp import Grasp
from etude.envs.tabletop.lift import Lift
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.stack import BASE_WORDS, Stack
from etude.envs.tabletop.starts import PAD_APART_WORDS, TABLE_WORDS, part_pad, put_base


class StackFromTable(Composition):
    """Fetch the cube from where it lies, and put it down on the base."""

    id = "stack-from-table"
    stages = (Grasp(), Lift(), Carry(), Stack())
    cubes = 2
    horizon = 80
    starts = f"{BASE_WORDS}; {PAD_APART_WORDS}; {TABLE_WORDS}"

    def prepare(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The base on the target, which is not where the cube is."""
        part_pad(scene, ids)
        put_base(scene, ids, rngs)

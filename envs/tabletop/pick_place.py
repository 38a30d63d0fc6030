"""pick-place: fetch the cube, and put it down on the target."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.carry import Carry
from etude.envs.tabletop.composition import Composition
from etude.envs.tabletop.grasp import Grasp
from etude.envs.tabletop.lift import Lift
from etude.envs.tabletop.place import Place
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import PAD_APART_WORDS, TABLE_WORDS, part_pad


class PickPlace(Composition):
    """Fetch the cube from where it lies, and put it down on the target."""

    id = "pick-place"
    stages = (Grasp(), Lift(), Carry(), Place())
    horizon = 70
    starts = f"{PAD_APART_WORDS}; {TABLE_WORDS}"

    def prepare(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The target is not where the cube is."""
        part_pad(scene, ids)

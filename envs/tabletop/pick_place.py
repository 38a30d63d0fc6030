"""pick-place: fetch the cube, and put it down on the target."""

from etude.envs.tabletop.carry import Carry
from etude.envs.tabletop.composition import Composition
from etude.envs.tabletop.grasp import Grasp
from etude.envs.tabletop.lift import Lift
from etude.envs.tabletop.place import Place
from etude.envs.tabletop.starts import PAD_WORDS, TABLE_WORDS


class PickPlace(Composition):
    """Fetch the cube from where it lies, and put it down on the target."""

    id = "pick-place"
    stages = (Grasp(), Lift(), Carry(), Place())
    horizon = 70
    starts = f"{PAD_WORDS}; {TABLE_WORDS}"

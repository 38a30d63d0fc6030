"""knob-then-button: a composition of a primitive of one's own and one of Étude's."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from slide_knob import place_rail

from etude import compose
from etude.envs.tabletop.scene import Scene


def prepare(scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
    """Rail ±1 cm along x and ±4 cm along y."""
    place_rail(scene, ids, rngs)


compose("knob-then-button", parts=["slide-knob", "press-button"], horizon=90, prepare=prepare)

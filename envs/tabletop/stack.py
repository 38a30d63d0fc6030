"""stack: the grasped cube down on the base, and let go."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.place import TOLERANCE, Place
from etude.envs.tabletop.scene import CUBE_HALF, Scene
from etude.envs.tabletop.starts import (
    FURNITURE_WORDS,
    IN_HAND_WORDS,
    OVER_PAD,
    PAD_WORDS,
    YAW_WORDS,
    arrange,
    drawn,
    extent,
    hold,
    put_base,
)

HIGHER = np.array([0, 0, 2 * CUBE_HALF])
BASE_WORDS = f"base on the target, {YAW_WORDS}"


class Stack(Place):
    """Put the grasped cube down on the base, let go, and retreat."""

    id = "stack"
    cubes = 2
    horizon = 70
    over = (TOLERANCE, 0.02)
    starts = (
        f"cube in the air over {extent(OVER_PAD)} above the base, grasped {IN_HAND_WORDS}; {BASE_WORDS}; {PAD_WORDS}; "
        f"{FURNITURE_WORDS}"
    )

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The cube in the closed gripper, over the base; the goal marks where it should lie."""
        arrange(scene, ids, rngs)
        put_base(scene, ids, rngs)
        hold(scene, ids, rngs, scene.base[ids] + HIGHER + drawn(OVER_PAD, rngs))
        self.mark(scene, ids)

    def advance(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """The goal goes with the base."""
        self.mark(scene, ids)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal where the cube's centre is once it lies on the base."""
        scene.goal[ids] = scene.base[ids] + HIGHER

    def retreat(self, scene: Scene) -> NDArray[np.float64]:
        """As in place, but upwards: down around the base, where it can hold that one, is no way away."""
        return np.where(scene.tcp[:, 2] > scene.cube[:, 2], scene.retreat, 0.0)

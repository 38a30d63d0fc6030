"""place: the grasped cube down on the target, and let go."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.grasp import REACHED, grasped_progress
from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import CUBE_HALF, Scene
from etude.envs.tabletop.starts import (
    FURNITURE_WORDS,
    IN_HAND_WORDS,
    OVER_PAD,
    PAD_WORDS,
    arrange,
    drawn,
    extent,
    hold,
)

TOLERANCE, LYING, RESTING = 0.02, 0.002, 0.1
FALLING = 0.05
BRING, RELEASE = 0.25, 0.45
WITHIN, FAR, NEAR = 0.005, 1.0, 0.1
RESTING_PLACE = np.array([0, 0, CUBE_HALF])


class Place(Primitive):
    """Put the grasped cube down on the target, let go, and retreat.

    Attributes:
        over: metres beside and above where the cube should lie, within which letting go of it pays.
    """

    id = "place"
    horizon = 50
    over = (TOLERANCE, FALLING)
    starts = (
        f"cube in the air over {extent(OVER_PAD)} above the target, grasped {IN_HAND_WORDS}; {PAD_WORDS}; "
        f"{FURNITURE_WORDS}"
    )

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The cube in the closed gripper, over the target; the goal marks where it should lie."""
        arrange(scene, ids, rngs)
        hold(scene, ids, rngs, scene.pad[ids] + drawn(OVER_PAD, rngs))
        mark_pad(scene, ids)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal where the cube's centre is once it lies on the target."""
        mark_pad(scene, ids)

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """The grasped cube's closeness to where it should lie; over it, the gripper's opening and retreat as well."""
        near = closeness(scene.goal_distance, WITHIN, FAR, NEAR)
        over = _above(scene, *self.over)
        brought = np.where(over, REACHED + (1 - REACHED) * near, grasped_progress(scene, near))
        left = RELEASE * scene.release + (1 - BRING - RELEASE) * self.retreat(scene)
        return BRING * brought + np.where(over, left, 0.0)

    def retreat(self, scene: Scene) -> NDArray[np.float64]:
        """How far the gripper has gone from the cube, (N,), in [0, 1]."""
        return scene.retreat

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The cube lies still within TOLERANCE of the target, the gripper open and away."""
        return _above(scene, TOLERANCE, LYING) & (scene.cube_speed < RESTING) & scene.left_alone


def mark_pad(scene: Scene, ids: NDArray[np.intp]) -> None:
    """Put the goal where the cube's centre is once it lies on the target."""
    scene.goal[ids] = scene.pad[ids] + RESTING_PLACE


def _above(scene: Scene, aside: float, height: float) -> NDArray[np.bool_]:
    x, y, z = scene.cube_to_goal.T
    near: NDArray[np.bool_] = (x * x + y * y < aside * aside) & (z > -height) & (z < CUBE_HALF)
    return near

"""place: the grasped cube down on the target, and let go."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.grasp import grasped_progress, held
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

TOLERANCE, LYING, NEARLY, RESTING = 0.02, 0.002, 0.012, 0.1
FALLING = 0.03
BRING, RELEASE = 0.5, 0.25
FAR, NEAR = 1.0, 0.1
RESTING_PLACE = np.array([0, 0, CUBE_HALF])


class Place(Primitive):
    """Put the grasped cube down on the target, let go, and retreat."""

    id = "place"
    horizon = 50
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
        """The grasped cube's closeness to where it should lie; there, the gripper's opening and retreat."""
        near = closeness(scene.distance(scene.goal, scene.cube), TOLERANCE, FAR, NEAR)
        left = RELEASE * scene.release + (1 - BRING - RELEASE) * scene.retreat
        return np.where(_on_target(scene, NEARLY), BRING + left, BRING * grasped_progress(scene, near))

    def ready(self, scene: Scene) -> NDArray[np.bool_]:
        """Whether the cube is held, or has been let go over the target."""
        return held(scene) | _on_target(scene, FALLING)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The cube lies still within TOLERANCE of the target, the gripper open and away."""
        return _on_target(scene, LYING) & (scene.cube_speed < RESTING) & scene.left_alone


def mark_pad(scene: Scene, ids: NDArray[np.intp]) -> None:
    """Put the goal where the cube's centre is once it lies on the target."""
    scene.goal[ids] = scene.pad[ids] + RESTING_PLACE


def _on_target(scene: Scene, height: float) -> NDArray[np.bool_]:
    x, y, z = (scene.cube - scene.goal).T
    lying: NDArray[np.bool_] = (x * x + y * y < TOLERANCE * TOLERANCE) & (z < height) & (z > -CUBE_HALF)
    return lying

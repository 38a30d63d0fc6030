"""carry: the grasped cube to a goal in the air."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.grasp import grasped_progress, held
from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import (
    FURNITURE_WORDS,
    GOAL,
    GOAL_WORDS,
    HELD,
    IN_HAND_WORDS,
    apart,
    arrange,
    drawn,
    extent,
    hold,
)

TOLERANCE, SLOW = 0.02, 0.6
FAR, NEAR = 0.8, 0.1
OVER_PAD = np.array([0, 0, 0.12])


class Carry(Primitive):
    """Carry the grasped cube to a goal in the air, and hold it there."""

    id = "carry"
    horizon = 60
    starts = f"cube in the air over {extent(HELD)}, grasped {IN_HAND_WORDS}; {GOAL_WORDS}; {FURNITURE_WORDS}"
    shows_goal = True

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The cube in the closed gripper, in the air."""
        arrange(scene, ids, rngs)
        hold(scene, ids, rngs, drawn(HELD, rngs))
        scene.goal[ids] = apart(scene.goal[ids], scene.tcp[ids], GOAL)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal over the pad."""
        scene.goal[ids] = scene.pad[ids] + OVER_PAD

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """The way to a grasp, then the grasped cube's closeness to the goal."""
        return grasped_progress(scene, closeness(scene.goal_distance, TOLERANCE, FAR, NEAR))

    def ready(self, scene: Scene) -> NDArray[np.bool_]:
        """Whether the cube is held."""
        return held(scene)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The cube is grasped, within TOLERANCE of the goal, and does not fly past."""
        return scene.grasped & (scene.goal_distance < TOLERANCE) & (scene.cube_speed < SLOW)

"""reach: the finger tips to a goal in the air."""

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import GOAL_WORDS, TABLE_WORDS

TOLERANCE = 0.02
FAR, NEAR = 0.8, 0.1


class Reach(Primitive):
    """Bring the finger tips to a goal in the air, and stay there."""

    id = "reach"
    horizon = 60
    starts = f"{GOAL_WORDS}; {TABLE_WORDS}"
    shows_goal = True

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Leave the goal where it was drawn."""

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the finger tips to the goal."""
        return closeness(scene.distance(scene.goal, scene.tcp), TOLERANCE, FAR, NEAR)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The finger tips are within TOLERANCE of the goal."""
        return scene.distance(scene.goal, scene.tcp) < TOLERANCE

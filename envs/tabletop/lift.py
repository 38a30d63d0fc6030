"""lift: the grasped cube up from the table."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.grasp import grasped_progress, held
from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.scene import CUBE_HALF, Scene, share
from etude.envs.tabletop.starts import FURNITURE_WORDS, IN_HAND_WORDS, PLACE_WORDS, arrange, hold

LIFTED = 0.1
AIM = np.array([0, 0, 0.12])


class Lift(Primitive):
    """Lift the grasped cube by 10 cm, and hold it up."""

    id = "lift"
    horizon = 40
    starts = f"cube on the table, grasped {IN_HAND_WORDS}, {PLACE_WORDS}; {FURNITURE_WORDS}"
    shows_goal = True

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The cube between the closed fingers, where it stands; the goal marks a place over it."""
        arrange(scene, ids, rngs)
        hold(scene, ids, rngs, scene.cube[ids])
        self.mark(scene, ids)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal over where the cube is."""
        scene.goal[ids] = scene.cube[ids] + AIM

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """The way to a grasp, then the height of the grasped cube."""
        return grasped_progress(scene, share((scene.cube[:, 2] - CUBE_HALF) / LIFTED))

    def ready(self, scene: Scene) -> NDArray[np.bool_]:
        """Whether the cube is held."""
        return held(scene)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The cube is grasped, and LIFTED above the table."""
        return scene.grasped & (scene.cube[:, 2] - CUBE_HALF > LIFTED)

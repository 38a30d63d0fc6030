"""grasp: the open fingers around the cube, and close."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import CUBE_HALF, FINGER_OPEN, Scene, once, share, within
from etude.envs.tabletop.starts import CUBE_WORDS, FURNITURE_WORDS, HOVER_WORDS, arrange, hover

APPROACH = 0.5
WITHIN, FAR, NEAR = 0.015, 1.0, 0.1
ROUND = np.sqrt(2) * CUBE_HALF
AROUND = np.array([[-0.02, -0.03, -0.02], [0.02, 0.03, 0.02]])
RESTING = 0.4
REACHED = 0.3
HOLDING = np.array([[-0.025, -0.02, -0.03], [0.025, 0.02, 0.03]])
LEAST, MOST = 0.012, 0.033


class Grasp(Primitive):
    """Grasp the cube from above, and hold it."""

    id = "grasp"
    horizon = 40
    starts = f"open {HOVER_WORDS}; {CUBE_WORDS}; {FURNITURE_WORDS}"

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The open gripper over the cube; the goal marks the cube."""
        arrange(scene, ids, rngs)
        hover(scene, ids, rngs)
        self.mark(scene, ids)

    def advance(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """The goal goes with the cube."""
        self.mark(scene, ids)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal where the cube is."""
        scene.goal[ids] = scene.cube[ids]

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the finger tips to the cube, then the fingers' closing around it."""
        return grasp_progress(scene)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """Both fingers touch the cube's sides, and do not bounce back from there."""
        return scene.grasped & (scene.gripper_speed < RESTING)


@once
def grasp_progress(scene: Scene) -> NDArray[np.float64]:
    """Towards a grasped cube, (N,) in [0, 1]: closeness of the finger tips, then the fingers' closing around it."""
    near = closeness(scene.gap_length, WITHIN, FAR, NEAR)
    around = within(scene.gap, AROUND)
    gripping = share((FINGER_OPEN - scene.width) / (FINGER_OPEN - ROUND))
    progress: NDArray[np.float64] = APPROACH * near + (1 - APPROACH) * around * gripping
    return progress


def grasped_progress(scene: Scene, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Towards something that is done with the grasped cube, (N,) in [0, 1].

    Args:
        scene: the scene.
        share: (N,) of it that is done, in [0, 1]; it counts while the cube is grasped.
    """
    return REACHED * grasp_progress(scene) + (1 - REACHED) * np.where(scene.grasped, share, 0.0)


@once
def held(scene: Scene) -> NDArray[np.bool_]:
    """Whether the cube is between the fingers, (N,): unlike a grasp, it bears a finger that parts for a step."""
    width = scene.width
    return within(scene.gap, HOLDING) & (width > LEAST) & (width < MOST)

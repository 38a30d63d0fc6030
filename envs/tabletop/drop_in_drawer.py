"""drop-in-drawer: let go of the cube over the open drawer."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.grasp import REACHED, grasped_progress
from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import CUBE_HALF, DRAWER_TRAVEL, SHUT_HANDLE, Scene
from etude.envs.tabletop.starts import FURNITURE_WORDS, IN_HAND_WORDS, arrange, drawn, extent, hold

BRING, RELEASE = 0.25, 0.45
WITHIN, FAR, NEAR = 0.06, 1.0, 0.1
ALOFT = CUBE_HALF + 0.01
OPENING = np.array([[0.9 * DRAWER_TRAVEL], [DRAWER_TRAVEL]])
BEFORE_DRAWER = np.array([[-0.08, 0.1, 0.12], [0.08, 0.2, 0.2]])
LYING_PLACE = np.array([0, -0.154, -0.042])


class DropInDrawer(Primitive):
    """Drop the grasped cube into the open drawer, so that it lies there."""

    id = "drop-in-drawer"
    horizon = 50
    starts = (
        f"drawer open; cube in the air over {extent(BEFORE_DRAWER)} before it, grasped {IN_HAND_WORDS}; "
        f"{FURNITURE_WORDS}"
    )

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The drawer open, the cube in the closed gripper above its front; the goal marks a place in the drawer."""
        arrange(scene, ids, rngs)
        opening = drawn(OPENING, rngs)[:, 0]
        scene.drawer_opening[ids] = opening
        handle = scene.cabinet[ids] + SHUT_HANDLE
        handle[:, 1] += opening
        scene.goal[ids] = handle + LYING_PLACE
        hold(scene, ids, rngs, scene.goal[ids] + drawn(BEFORE_DRAWER, rngs))

    def advance(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """The goal goes with the drawer."""
        self.mark(scene, ids)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal on the drawer's floor."""
        scene.goal[ids] = scene.handle[ids] + LYING_PLACE

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """The closeness to a place in the drawer of the cube that does not lie about, then opening and retreat."""
        near = closeness(scene.goal_distance, WITHIN, FAR, NEAR)
        aloft = scene.cube[:, 2] > ALOFT
        brought = np.where(aloft, REACHED + (1 - REACHED) * near, grasped_progress(scene, near))
        left = RELEASE * scene.release + (1 - BRING - RELEASE) * scene.retreat
        return np.where(scene.cube_in_drawer, BRING + left, BRING * brought)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The cube is in the drawer, the gripper open and away."""
        return scene.cube_in_drawer & scene.left_alone

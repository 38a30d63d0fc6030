"""push: the cube over the table to the target, with the closed gripper."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.place import mark_pad
from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import FINGER_OPEN, Scene, share
from etude.envs.tabletop.starts import (
    CUBE_WORDS,
    FURNITURE_WORDS,
    HOVER_WORDS,
    PAD_APART_WORDS,
    arrange,
    hover,
    part_pad,
)

TOLERANCE, LYING, CLOSED = 0.025, 0.004, 0.01
PRESSED = 0.015
APPROACH = 0.3
WITHIN, FAR, NEAR = 0.04, 0.4, 0.15


class Push(Primitive):
    """Push the cube over the table to the target with the closed gripper."""

    id = "push"
    horizon = 100
    starts = f"closed {HOVER_WORDS}; {CUBE_WORDS}; {PAD_APART_WORDS}; {FURNITURE_WORDS}"

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The closed gripper over the cube; the goal marks where its centre is once it lies on the target."""
        arrange(scene, ids, rngs)
        hover(scene, ids, rngs, closed=True)
        part_pad(scene, ids)
        self.mark(scene, ids)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal where the cube's centre is once it lies on the target."""
        mark_pad(scene, ids)

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of finger tips to cube, then of cube to target, as far as the gripper is closed, pressing aside."""
        near = closeness(scene.gap_length, WITHIN, FAR, NEAR)
        there = closeness(scene.goal_distance, TOLERANCE, FAR, NEAR)
        shut = share((FINGER_OPEN - scene.width) / (FINGER_OPEN - PRESSED))
        return shut * (APPROACH * near + (1 - APPROACH) * there)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The cube lies within TOLERANCE of the target, the gripper closed."""
        flat = np.abs(scene.cube[:, 2] - scene.goal[:, 2]) < LYING
        there = flat & (scene.goal_distance < TOLERANCE)
        return np.asarray(there & (scene.width < CLOSED))

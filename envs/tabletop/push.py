"""push: the cube over the table to the target, with the closed gripper."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import CUBE_HALF, Scene
from etude.envs.tabletop.starts import (
    CUBE,
    FURNITURE_WORDS,
    GOAL_CLEARANCE,
    GOAL_REACH,
    PUSH,
    PUSHER_WORDS,
    YAW_WORDS,
    apart,
    arrange,
    beside,
    extent,
    near,
)
from etude.envs.task import Task

TOLERANCE, LYING, RESTING, CLOSED = 0.025, 0.002, 0.05, 0.005
TOUCHING, CLEAR = 0.035, 0.05
UNSOLVED, BEHIND, BRING = 0.3, 0.3, 0.6
WITHIN, FAR, NEAR = 0.04, 1.0, 0.1
REACH = 0.045


class Push(Task):
    """Push the cube to the target with the closed gripper, and leave it there."""

    id = "push"
    horizon = 150
    starts = (
        f"closed gripper {PUSHER_WORDS}; cube over {extent(PUSH)} and {YAW_WORDS}; target over {extent(PUSH)}, "
        f"{100 * GOAL_CLEARANCE:.0f} to {100 * GOAL_REACH:.0f} cm from the cube; {FURNITURE_WORDS}"
    )
    marks = ("pad",)

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The closed gripper beside a cube that is near enough to get behind; the goal marks where it should lie."""
        arrange(scene, ids, rngs)
        shift = PUSH[0] - CUBE[0]
        scene.cube[ids, :2] += shift
        cube = scene.cube[ids, :2]
        scene.pad[ids, :2] = near(apart(scene.pad[ids, :2] + shift, cube, PUSH), cube)
        scene.goal[ids] = scene.pad[ids] + [0, 0, CUBE_HALF]
        beside(scene, ids, rngs)

    def reward(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the gripper to where it can push, then of the cube to the target."""
        return np.where(self.success(scene), 1.0, UNSOLVED * push_progress(scene))

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The cube lies still within TOLERANCE of the target, the gripper closed and clear of it."""
        flat = np.abs(scene.cube[:, 2] - scene.goal[:, 2]) < LYING
        there = flat & (scene.distance(scene.goal, scene.cube) < TOLERANCE)
        closed = scene.fingers.max(axis=1) < CLOSED
        still: NDArray[np.bool_] = there & (scene.cube_speed < RESTING) & closed & (_clearance(scene) == 1)
        return still


def push_progress(scene: Scene) -> NDArray[np.float64]:
    """Towards a cube on the target, (N,) in [0, 1]."""
    way = scene.distance(scene.goal, scene.cube)
    close = closeness(way, TOLERANCE, FAR, NEAR)
    behind = scene.cube + (scene.cube - scene.goal) * (REACH / np.maximum(way, REACH))[:, None]
    ready = closeness(scene.distance(scene.tcp, behind), WITHIN, FAR, NEAR)
    there = way < TOLERANCE
    leave = np.where(there, _clearance(scene), 0.0)
    return BEHIND * np.where(there, 1.0, ready) + BRING * close + (1 - BEHIND - BRING) * leave


def _clearance(scene: Scene) -> NDArray[np.float64]:
    """How clear of the cube the tool centre point is, (N,) in [0, 1]."""
    gone: NDArray[np.float64] = (scene.distance(scene.tcp, scene.cube) - TOUCHING) / (CLEAR - TOUCHING)
    return np.clip(gone, 0, 1)

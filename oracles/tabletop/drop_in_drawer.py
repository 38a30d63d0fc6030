"""drop-in-drawer: throw the cube in, or let go over the drawer; one that fell beside it is fetched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import CONTROL_RATE
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.cube import CubeOracle
from etude.oracles.tabletop.motion import Floats

GRAVITY = 9.81 / CONTROL_RATE**2  # metres per control step, squared
LEAVING = 0.8  # steps that the fingers take to let go
# Metres from the goal on the drawer's floor to the cube's centre.
OVER_FLOOR = np.array([0.06, 0.04])  # sideways, where it may fall
MIDDLE = np.array([0.03, 0.012])  # sideways, where it is taken
RIM = 0.08  # above, as it flies over the front
FRONT, BACK, SIDE = 0.06, -0.04, 0.065  # where it has to be then
HIGH = 0.09  # above, to go over the front with it
ABOVE = 0.12
FAST = 0.15  # metres a second: the cube flies
PARTING = 0.1  # metres a second: the fingers open
BELOW = 0.055  # how far the cube has to fall before the finger ahead of it may stop
COAST = 1.5  # steps of the last motion, to go on with it
UP = 0.06


class DropInDrawerOracle(CubeOracle):
    """Lets go, in full motion, as soon as the cube will fly into the open drawer, and keeps away."""

    task = "drop-in-drawer"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Towards the drawer with the cube; on with the flying cube, and up; away from it without."""
        tcp, cube, grasped = privileged["tcp"], privileged["cube"], privileged["grasped"]
        target, closed = self.fetch(privileged, ahead)
        gap, moved = cube - privileged["goal"], ahead - tcp
        leaving = gap + LEAVING * moved
        landing = leaving + moved * steps_of_fall(leaving[:, 2] - RIM, moved[:, 2])[:, None]
        over = (np.abs(gap[:, :2]) < OVER_FLOOR).all(axis=1)
        within = (landing[:, 1] < FRONT) & (landing[:, 1] > BACK) & (np.abs(landing[:, 0]) < SIDE)
        into = grasped & within & (over | (leaving[:, 2] > RIM))
        released = ~closed | (privileged["gripper_speed"] > PARTING)
        flying = ~grasped & released & (privileged["cube_speed"] > FAST)
        carrying = grasped & ~into
        leave = into | flying | privileged["cube_in_drawer"]
        across = tcp - gap
        across[:, :2] += np.clip(gap[:, :2], -MIDDLE, MIDDLE)
        across[:, 2] += np.where(over, 0, ABOVE)
        high = over | (gap[:, 2] > HIGH)
        across[:, :2] = np.where(high[:, None], across[:, :2], tcp[:, :2])
        target = np.where(carrying[:, None], across, target)
        with_it = (tcp[:, 2] - cube[:, 2] < BELOW) | flying
        away = tcp.copy()
        away[:, :2] += np.where(with_it[:, None], COAST * moved[:, :2], 0)
        away[:, 2] += np.where(with_it, UP, 0)
        target = np.where(leave[:, None], away, target)
        return target, (closed | carrying) & ~leave

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is grasped, or in the drawer already."""
        return np.asarray(privileged["grasped"] | privileged["cube_in_drawer"])

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is in the drawer, the gripper open and away."""
        return np.asarray(privileged["cube_in_drawer"] & self.left_alone(privileged))


def steps_of_fall(height: Floats, speed: Floats) -> Floats:
    """Control steps in which what rises at `speed`, (N,) metres a step, falls by `height`, (N,) metres."""
    steps: Floats = (speed + np.sqrt(speed * speed + 2 * GRAVITY * np.maximum(height, 0))) / GRAVITY
    return np.maximum(steps, 0)

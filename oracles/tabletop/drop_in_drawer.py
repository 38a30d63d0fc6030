"""drop-in-drawer: throw it in, or let go over the drawer; a cube that fell beside it is fetched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import CONTROL_RATE
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.cube import CubeOracle
from etude.oracles.tabletop.motion import Floats

GRAVITY = 9.81 / CONTROL_RATE**2  # metres per control step squared
OVER_FLOOR = np.array([0.06, 0.04])
FREE = 0.7
RIM = 0.09
LAND = 0.04
FRONT = 0.045
BACK = -0.04
SIDE = 0.065
MIDDLE = np.array([0.03, 0.015])
HIGH = 0.09
ABOVE = 0.12
CLEAR = 0.03
BELOW = 0.03
UP = 0.06
BACKWARD = 0.03
ONWARD = -0.06
FAST = 0.15
OPENING = 0.1


class DropInDrawerOracle(CubeOracle):
    """Lets go as soon as the cube will fly into the open drawer, and keeps away."""

    task = "drop-in-drawer"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Over the drawer with the cube; away from it without."""
        tcp, cube, grasped = privileged["tcp"], privileged["cube"], privileged["grasped"]
        target, closed = self.fetch(privileged, ahead)
        gap = cube - privileged["goal"]
        moved = ahead - tcp
        left = gap + FREE * moved  # where it leaves the fingers
        rim, land = (left + moved * fall_time(left[:, 2] - z, moved[:, 2])[:, None] for z in (RIM, LAND))
        over = (np.abs(gap[:, :2]) < OVER_FLOOR).all(axis=1)
        into = (rim[:, 1] < FRONT) & (land[:, 1] > BACK) & (np.abs(land[:, 0]) < SIDE) & (over | (left[:, 2] > RIM))
        carrying = grasped & ~into
        released = (privileged["gripper_speed"] > OPENING) | ~closed
        flying = ~grasped & released & (privileged["cube_speed"] > FAST)
        falling = (grasped & into) | flying | privileged["cube_in_drawer"]
        middle = np.clip(gap[:, :2], -MIDDLE, MIDDLE)
        across = tcp - gap
        across[:, :2] += middle
        across[:, 2] += np.where(over, 0, ABOVE)
        high = over | (gap[:, 2] > HIGH)
        across[:, :2] = np.where(high[:, None], across[:, :2], tcp[:, :2])
        target = np.where(carrying[:, None], across, target)
        below = tcp[:, 2] - cube[:, 2] > BELOW
        clear = privileged["fingers"].min(axis=1) > CLEAR
        go = tcp.copy()
        go[:, 1] += np.where(below, BACKWARD, ONWARD)
        go[:, 2] += np.where(clear, UP, 0)
        away = self.left_alone(privileged) & ~flying
        go[away] = tcp[away]
        target = np.where(falling[:, None], go, target)
        return target, (closed | carrying) & ~falling

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is grasped, or in the drawer already."""
        return np.asarray(privileged["grasped"] | privileged["cube_in_drawer"])

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is in the drawer, the gripper open and away."""
        return np.asarray(privileged["cube_in_drawer"] & self.left_alone(privileged))


def fall_time(height: Floats, speed: Floats) -> Floats:
    """Control steps in which what moves up at `speed`, (N,) metres a step, falls by `height`, (N,) metres."""
    height = np.maximum(height, 0)
    time: Floats = (speed + np.sqrt(speed * speed + 2 * GRAVITY * height)) / GRAVITY
    return time

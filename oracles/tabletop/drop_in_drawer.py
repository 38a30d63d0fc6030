"""drop-in-drawer: open over the drawer; a cube that fell beside it is fetched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.cube import CubeOracle
from etude.oracles.tabletop.motion import Floats

OVER_FLOOR = np.array([0.06, 0.04])
MIDDLE = np.array([0.03, 0.015])
DROP = 0.14
HIGH = 0.09
ABOVE = 0.12
CLEAR = 0.03
RETREAT = 0.09


class DropInDrawerOracle(CubeOracle):
    """Lets go as soon as the cube is over the open drawer's floor, and keeps away."""

    task = "drop-in-drawer"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Over the drawer with the cube; away from it without."""
        tcp, cube, grasped = privileged["tcp"], privileged["cube"], privileged["grasped"]
        target, closed = self.fetch(privileged, ahead)
        gap = cube - privileged["goal"]
        drift = gap + ahead - tcp
        over = (np.abs(gap[:, :2]) < OVER_FLOOR).all(axis=1)
        low = over & (drift[:, 2] < DROP)
        carrying = grasped & ~low
        falling = ~carrying & (over | privileged["cube_in_drawer"])
        middle = np.clip(gap[:, :2], -MIDDLE, MIDDLE)
        across = tcp - gap
        across[:, :2] += middle
        across[:, 2] += np.where(over, 0, ABOVE)
        high = over | (gap[:, 2] > HIGH)
        across[:, :2] = np.where(high[:, None], across[:, :2], tcp[:, :2])
        target = np.where(carrying[:, None], across, target)
        rising = privileged["fingers"].min(axis=1) > CLEAR
        target[falling, :2] = tcp[falling, :2]
        target[falling, 2] = np.where(rising, cube[:, 2] + RETREAT, tcp[:, 2])[falling]
        return target, (closed | carrying) & ~falling

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is grasped, or in the drawer already."""
        return np.asarray(privileged["grasped"] | privileged["cube_in_drawer"])

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is in the drawer, the gripper open and away."""
        return np.asarray(privileged["cube_in_drawer"] & self.left_alone(privileged))

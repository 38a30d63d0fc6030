"""place: the grasped cube over the target and down, open, and up; a lost one is fetched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.place import LYING, RESTING, TOLERANCE
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.cube import CubeOracle
from etude.oracles.tabletop.motion import Floats

CENTRED, MISSED = 0.009, 0.018
DROP = 0.002
CLEAR = 0.03
ABOVE = 0.1


class PlaceOracle(CubeOracle):
    """Lets go just over the target, and retreats upwards."""

    task = "place"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The cube down on the target; once it is there, up without it."""
        tcp, cube, grasped = privileged["tcp"], privileged["cube"], privileged["grasped"]
        target, closed = self.fetch(privileged, ahead)
        gap = cube - privileged["goal"]
        drift = gap + ahead - tcp
        aside = np.sqrt(gap[:, 0] ** 2 + gap[:, 1] ** 2)
        soon = np.sqrt(drift[:, 0] ** 2 + drift[:, 1] ** 2)
        down = (np.maximum(aside, soon) < CENTRED) & (drift[:, 2] < DROP)
        carrying = grasped & ~down
        gone = ~carrying & (aside < MISSED)
        target = np.where(carrying[:, None], tcp - gap, target)
        rising = privileged["fingers"].min(axis=1) > CLEAR
        target[gone, :2] = tcp[gone, :2]
        target[gone, 2] = np.where(rising, cube[:, 2] + ABOVE, cube[:, 2])[gone]
        return target, (closed | carrying) & ~gone

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is grasped, or on the target already."""
        return np.asarray(privileged["grasped"] | self._lying(privileged))

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube lies on the target, the gripper open and away."""
        still = privileged["cube_speed"] < RESTING
        return np.asarray(self._lying(privileged) & still & self.left_alone(privileged))

    def _lying(self, privileged: Privileged) -> NDArray[np.bool_]:
        x, y, z = (privileged["cube"] - privileged["goal"]).T
        return np.asarray((np.sqrt(x * x + y * y) < TOLERANCE) & (np.abs(z) < LYING))

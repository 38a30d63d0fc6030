"""carry: the grasped cube straight to the goal; a lost one is fetched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.carry import SLOW, TOLERANCE
from etude.envs.tabletop.scene import CUBE_HALF
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.clearance import clear_of_drawer
from etude.oracles.tabletop.cube import CubeOracle
from etude.oracles.tabletop.motion import Floats


class CarryOracle(CubeOracle):
    """Keeps the cube on its way to the goal, and there."""

    task = "carry"
    lead, brake = 0.7, 1.0

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Where the cube would be at the goal."""
        target, closed = self.fetch(privileged, ahead)
        grasped = privileged["grasped"]
        carried = clear_of_drawer(privileged, privileged["goal"] + privileged["tcp"] - privileged["cube"], CUBE_HALF)
        return np.where(grasped[:, None], carried, target), closed | grasped

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is grasped."""
        return np.asarray(privileged["grasped"])

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is at the goal."""
        gap = privileged["cube"] - privileged["goal"]
        there = np.sqrt((gap * gap).sum(axis=1)) < TOLERANCE
        return np.asarray(privileged["grasped"] & there & (privileged["cube_speed"] < SLOW))

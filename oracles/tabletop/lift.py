"""lift: the grasped cube up; a lost one is fetched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.lift import LIFTED
from etude.envs.tabletop.scene import CUBE_HALF
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.cube import CubeOracle
from etude.oracles.tabletop.motion import Floats

HIGH = CUBE_HALF + LIFTED + 0.03


class LiftOracle(CubeOracle):
    """Straight up with the cube."""

    task = "lift"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Over where the cube is."""
        target, closed = self.fetch(privileged, ahead)
        grasped = privileged["grasped"]
        target[grasped, :2] = privileged["tcp"][grasped, :2]
        target[grasped, 2] = HIGH
        return target, closed | grasped

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is grasped."""
        return np.asarray(privileged["grasped"])

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is held up."""
        return np.asarray(privileged["grasped"] & (privileged["cube"][:, 2] > CUBE_HALF + LIFTED))

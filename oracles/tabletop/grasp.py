"""grasp: fetch the cube."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.grasp import RESTING
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.cube import CubeOracle
from etude.oracles.tabletop.motion import Floats


class GraspOracle(CubeOracle):
    """Takes the open fingers around the cube, and closes them."""

    task = "grasp"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Around the cube."""
        return self.fetch(privileged, ahead)

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is grasped."""
        return np.asarray(privileged["grasped"] & (privileged["gripper_speed"] < RESTING))

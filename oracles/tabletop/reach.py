"""reach: straight to the goal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.oracles.oracle import Oracle, Privileged
from etude.oracles.tabletop.motion import towards


class ReachOracle(Oracle):
    """Keeps the finger tips on their way to the goal, and there."""

    task = "reach"

    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        """Straight to the goal, and stay."""
        return towards(privileged["goal"], privileged)

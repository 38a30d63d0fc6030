"""open-drawer: a finger down behind the handle, and pull."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import DRAWER_OPEN
from etude.oracles.oracle import Oracle, Privileged
from etude.oracles.tabletop.motion import towards

ABOVE = np.array([0, 0, 0.05])
BEHIND = np.array([0, 0.02, 0])
PULL = np.array([0, 0.1, 0])


class OpenDrawerOracle(Oracle):
    """Over the handle with open fingers, down, and pull."""

    task = "open-drawer"

    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        tcp, handle = privileged["tcp"], privileged["handle"]
        gap = np.abs(tcp - handle - BEHIND)
        over = (gap[:, 0] < 0.03) & (gap[:, 1] < 0.015)
        down = over & (tcp[:, 2] - handle[:, 2] < 0.01) | (privileged["drawer_opening"] > 0.01)
        target = handle + np.where(down[:, None], PULL, BEHIND + np.where(over[:, None], 0, ABOVE))
        return towards(target, privileged["setpoint"], np.zeros(self.size, np.bool_))

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        return np.asarray(privileged["drawer_locked"] == 0)

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        return np.asarray(privileged["drawer_opening"] > DRAWER_OPEN)

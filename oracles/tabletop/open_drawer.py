"""open-drawer: over the handle, one finger down behind it, and pull."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import DRAWER_OPEN, FINGER_OPEN
from etude.oracles.oracle import Oracle, Privileged
from etude.oracles.tabletop.motion import towards

ALONG = 0.04
OVER = FINGER_OPEN + 0.005
BEHIND = FINGER_OPEN / 2
CLEARANCE = 0.026
HOOKED = 0.015
PULL = 0.1


class OpenDrawerOracle(Oracle):
    """Pulls with the front one of the open fingers, which is behind the handle first."""

    task = "open-drawer"

    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        """Low over the handle, down behind it, and pull; a finger that came down before the handle rises first."""
        tcp, handle = privileged["tcp"], privileged["handle"]
        gap = tcp - handle
        along = np.abs(gap[:, 0]) < ALONG
        over = along & (gap[:, 1] < OVER)
        hooked = along & (np.abs(gap[:, 1]) < FINGER_OPEN) & (gap[:, 2] < HOOKED)
        before = ~hooked & (gap[:, 2] < HOOKED) & (gap[:, 1] < 2 * OVER)
        target = handle.copy()
        target[:, 1] += np.where(hooked, PULL, BEHIND)
        target[before, :2] = tcp[before, :2]
        target[:, 2] += np.where(over & ~before, 0, CLEARANCE)
        return towards(target, privileged)

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the drawer is unlocked."""
        return np.asarray(privileged["drawer_locked"] == 0)

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the drawer is open."""
        return np.asarray(privileged["drawer_opening"] > DRAWER_OPEN)

"""open-drawer: over the handle, one finger down behind it, and pull."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import DRAWER_OPEN, DRAWER_TRAVEL
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats, TabletopOracle

ALONG = 0.045
CLEARANCE = 0.026
BEHIND = 0.02
PAST = -0.012
LOW = 0.015
HOOKED = 0.005
PULL = 0.1
ENOUGH = (DRAWER_OPEN + DRAWER_TRAVEL) / 2


class OpenDrawerOracle(TabletopOracle):
    """Pulls with the front one of the open fingers, which is behind the handle first."""

    task = "open-drawer"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """Low over the handle, down behind it, and pull; a finger that came down on or before it rises first."""
        tcp, handle, front = privileged["tcp"], privileged["handle"], privileged["fingers"][:, 0]
        gap, soon = tcp - handle, ahead - handle
        along, low = np.abs(gap[:, 0]) < ALONG, gap[:, 2] < LOW
        hooked = along & low & (gap[:, 1] - front < HOOKED)
        past = along & (np.minimum(gap, soon)[:, 1] - front < PAST)
        before = low & ~hooked & (gap[:, 1] < 0.1)
        opened = privileged["drawer_opening"] > ENOUGH
        target = handle.copy()
        target[:, 1] += np.where(hooked, PULL, BEHIND)
        target[:, 2] += np.where(past | hooked, 0, CLEARANCE)
        target[before, :2] = tcp[before, :2]
        target[opened] = tcp[opened]
        return target, False

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the drawer is unlocked."""
        return np.asarray(privileged["drawer_locked"] == 0)

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the drawer is open."""
        return np.asarray(privileged["drawer_opening"] > DRAWER_OPEN)

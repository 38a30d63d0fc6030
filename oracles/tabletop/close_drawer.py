"""close-drawer: down in front of the handle, and push."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.close_drawer import DRAWER_SHUT
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats, TabletopOracle

ALONG = 0.045
BEFORE = 0.066
CLEAR = 0.035
LOW = 0.004
DEEP = -0.02
CLEARANCE = 0.03
LEVEL = 0.012
FREE = 0.058
PUSH = -0.1
ENOUGH = DRAWER_SHUT / 3


class CloseDrawerOracle(TabletopOracle):
    """Pushes with the outside of the open fingers, which come down before the handle first."""

    task = "close-drawer"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """Down before the handle, and push; tips that came down on it or behind it rise first."""
        tcp, handle = privileged["tcp"], privileged["handle"]
        gap, soon = tcp - handle, ahead - handle
        before = gap[:, 1] > CLEAR
        pushing = before & (np.abs(gap[:, 0]) < ALONG) & (soon[:, 2] < LOW)
        behind = ~before & (gap[:, 2] < CLEARANCE)
        over = (gap[:, 2] > LEVEL) & (soon[:, 1] < FREE)
        target = handle.copy()
        target[:, 1] += np.where(pushing, PUSH, BEFORE)
        target[:, 2] += np.where(behind | over, 2 * CLEARANCE, DEEP)
        target[behind, :2] = tcp[behind, :2]
        shut = privileged["drawer_opening"] < ENOUGH
        target[shut] = tcp[shut]
        return target, False

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the drawer is shut."""
        return np.asarray(privileged["drawer_opening"] < DRAWER_SHUT)

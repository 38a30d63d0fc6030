"""close-drawer: down to the front of the handle in one go, and push."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.close_drawer import DRAWER_SHUT
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats, TabletopOracle

# Metres from the handle's middle to the tool centre point, whose finger tips reach 11 mm lower; the bar is 8 mm thick.
ALONG = 0.045  # along the bar
BEFORE = 0.066  # where the open fingers are before it
TOUCHING = 0.06  # where the outside of the front one touches it
CLEAR = 0.035  # where that one is not behind it
FREE = 0.058  # where they come down free of it
LEVEL = 0.012  # above, where the tips are over it
LOW = 0.023  # above, where the tips touch the bar
DEEP = -0.02  # below, to push with the length of the finger
CLEARANCE = 0.03  # above, to pass over the bar
PUSH = -0.1  # far behind the bar, to push at full speed
ENOUGH = DRAWER_SHUT / 3


class CloseDrawerOracle(TabletopOracle):
    """Pushes with the outside of the open fingers, which come down as they come near."""

    task = "close-drawer"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """Slanting down before the handle, and push; tips that came down behind it rise first."""
        tcp, handle = privileged["tcp"], privileged["handle"]
        gap, soon = tcp - handle, ahead - handle
        before = gap[:, 1] > CLEAR
        in_time = soon[:, 2] - LOW < np.maximum(soon[:, 1] - TOUCHING, 0)
        pushing = before & (np.abs(soon[:, 0]) < ALONG) & in_time
        behind = ~before & (gap[:, 2] < CLEARANCE)
        over = ~pushing & (gap[:, 2] > LEVEL) & (np.maximum(gap, soon)[:, 1] < FREE)
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

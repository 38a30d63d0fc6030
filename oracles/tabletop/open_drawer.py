"""open-drawer: over the handle, one finger down behind it, and pull."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import DRAWER_OPEN, DRAWER_TRAVEL
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats, TabletopOracle

# Metres from the handle's middle to the tool centre point, whose finger tips reach 11 mm lower; the bar is 8 mm thick.
ALONG = 0.045  # along the bar, where the fingers do not meet its posts
CLEARANCE = 0.031  # above, to pass over the bar
BEHIND = 0.018  # where the front finger comes down between bar and drawer
LOW = 0.016  # above, where the tips are below the bar's top
BEFORE = 0.1  # in front, where the front finger may be on the bar or before it
PULL = 0.1  # far ahead of the bar, to pull at full speed
# Metres from the front finger's inner face to the bar's middle, in the direction of the pull.
PAST = -0.01
HOOKED = 0.005
STEPS_DOWN = 1.5  # steps that the way down takes, while the fingers go on
ENOUGH = (DRAWER_OPEN + DRAWER_TRAVEL) / 2


class OpenDrawerOracle(TabletopOracle):
    """Pulls with the front one of the open fingers, which is behind the handle first."""

    task = "open-drawer"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """Low over the handle, down behind it, and pull; a finger that came down on or before it rises first."""
        tcp, handle, front = privileged["tcp"], privileged["handle"], privileged["fingers"][:, 0]
        gap = tcp - handle
        soon = np.minimum(gap[:, 1], gap[:, 1] + STEPS_DOWN * (ahead - tcp)[:, 1])
        along, low = np.abs(gap[:, 0]) < ALONG, gap[:, 2] < LOW
        hooked = along & low & (gap[:, 1] - front < HOOKED)
        past = along & (soon - front < PAST)
        before = low & ~hooked & (gap[:, 1] < BEFORE)
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

"""open-drawer: the tips of one finger down on the handle or behind it, and pull while the gripper closes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import DRAWER_OPEN, DRAWER_TRAVEL
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats, TabletopOracle

# Metres from the handle's middle to the tool centre point, whose finger tips reach 11 mm lower; the bar is 8 mm thick.
ALONG = 0.045  # along the bar, where the fingers do not meet its posts
CLEARANCE = 0.026  # above, to pass over the bar
BEHIND = 0.025  # where the way over the bar is aimed
LOW = 0.02  # above, where the tips touch the bar if they are over it
PRESS = 0.003  # above, to press on the bar, or to go down behind it
PULL = 0.1  # far ahead of the bar, to pull at full speed
# Metres from the front finger's inner face to the bar's middle, in the direction of the pull; the pads are 12 mm thick.
OVER = 0.002
HELD = 0.012  # where the finger still lies on the bar
SOON = 0.8  # steps in which the motion can be turned
ENOUGH = (DRAWER_OPEN + DRAWER_TRAVEL) / 2


class OpenDrawerOracle(TabletopOracle):
    """Pulls with the front finger, which rubs on the handle or hooks behind it.

    As the gripper closes, that finger moves towards the hand, and the drawer faster than the hand.
    """

    task = "open-drawer"
    lead = 1.0
    brake = 1.1

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Low over the handle, down on or behind it, and pull; a finger that came down before it rises first."""
        tcp, handle, front = privileged["tcp"], privileged["handle"], privileged["fingers"][:, 0]
        gap = tcp - handle
        soon = gap + SOON * np.minimum(ahead - tcp, 0)
        along, low = np.abs(gap[:, 0]) < ALONG, gap[:, 2] < LOW
        held = along & low & (gap[:, 1] - front < HELD)
        over = along & (soon[:, 1] - front < OVER)
        pulling = held | (over & (soon[:, 2] < LOW))
        before = low & ~pulling & ~over
        opened = privileged["drawer_opening"] > ENOUGH
        target = handle.copy()
        target[:, 1] += np.where(pulling, PULL, BEHIND)
        target[:, 2] += np.where(over | held, PRESS, CLEARANCE)
        target[before | opened, :2] = tcp[before | opened, :2]
        target[opened, 2] = handle[opened, 2] + CLEARANCE
        return target, held & ~opened

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the drawer is unlocked."""
        return np.asarray(privileged["drawer_locked"] == 0)

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the drawer is open."""
        return np.asarray(privileged["drawer_opening"] > DRAWER_OPEN)

"""open-drawer: the tips of one finger down on the handle, and pull while the gripper closes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import DRAWER_OPEN, DRAWER_TRAVEL
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats, TabletopOracle

# Metres from the handle's middle to the tool centre point, whose finger tips reach 11 mm lower; the bar is 8 mm thick.
ALONG = 0.045  # along the bar, where the fingers do not meet its posts
CLEARANCE = 0.031  # above, to pass over the bar
BEHIND = 0.025  # where the way over the bar is aimed
LOW = 0.02  # above, where the tips touch the bar if they are over it
PRESS = 0.003  # above, to press on the bar or go down behind it
BEFORE = 0.09  # in front, where a low finger may run into the bar
PULL = 0.1  # far ahead of the bar, to pull at full speed
# Metres from the front finger's inner face to the bar's middle, in the direction of the pull; the pads are 12 mm thick.
OVER = 0.002  # where the finger comes down on the bar
HELD = 0.012  # where it still lies on it
DEEPER = 0.01  # and how much further the finger goes to hook behind the bar
SOON, SOON_BEHIND = 1.1, 1.5  # steps that the way down takes, on the bar and behind it
ENOUGH = (DRAWER_OPEN + DRAWER_TRAVEL) / 2


class OpenDrawerOracle(TabletopOracle):
    """Presses the front finger on the handle and pulls; as the gripper closes, the drawer is faster than the hand.

    With the cube in the drawer the finger hooks behind the handle, and stays open: the hand goes for the cube at once,
    and a finger that lies on the handle would take the drawer along.
    """

    task = "open-drawer"
    brake = 0.7

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Low over the handle, down on or behind it, and pull; a finger that came down before it rises first."""
        tcp, handle, hook = privileged["tcp"], privileged["handle"], privileged["cube_in_drawer"]
        deeper = np.where(hook, DEEPER, 0)
        gap = tcp - handle
        soon = gap + np.where(hook, SOON_BEHIND, SOON)[:, None] * np.minimum(ahead - tcp, 0)
        reach = privileged["fingers"][:, 0] - deeper
        along, low = np.abs(gap[:, 0]) < ALONG, gap[:, 2] < LOW
        held = along & low & (gap[:, 1] - reach < HELD)
        over = along & (soon[:, 1] - reach < OVER)
        pulling = held | (over & (soon[:, 2] < LOW) & ~hook)
        before = low & ~pulling & ~over & (gap[:, 1] < BEFORE)
        opened = privileged["drawer_opening"] > ENOUGH
        target = handle.copy()
        target[:, 1] += np.where(pulling, PULL, BEHIND - deeper)
        target[:, 2] += np.where(over | held, PRESS, CLEARANCE)
        target[before | opened, :2] = tcp[before | opened, :2]
        target[opened, 2] = handle[opened, 2] + CLEARANCE
        return target, held & ~opened & ~hook

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the drawer is unlocked."""
        return np.asarray(privileged["drawer_locked"] == 0)

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the drawer is open."""
        return np.asarray(privileged["drawer_opening"] > DRAWER_OPEN)

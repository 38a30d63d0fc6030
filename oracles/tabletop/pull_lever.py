"""pull-lever: down around the lever's tip, and take it past the mark with the far finger."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats, TabletopOracle

# Metres from the lever's tip to the tool centre point, or along y to the far finger's inner face.
SIDE = 0.013  # sideways, where the lever is between the fingers
BEHIND = 0.02  # where the far finger comes down
PAST = 0.006  # where it is clear of the lever
CLEARANCE = 0.03  # above, to pass over the tip
DEEP = -0.006  # below, where the tips are before they pull
DEEPER = -0.012  # below, since the leaning tip sinks
LOW, STILL_LOW = 0.008, 0.02  # above, where the finger holds an upright lever, and a leaning one
LEANING = 0.1  # radians
PULL = -0.1  # far ahead, to pull at full speed
ENOUGH = 0.006  # past the mark


class PullLeverOracle(TabletopOracle):
    """Pulls with the far one of the open fingers, which is behind the lever's tip first."""

    task = "pull-lever"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """Low over the tip, down with it between the fingers, and pull; a finger on or before it rises first."""
        tcp, lever, far = privileged["tcp"], privileged["lever"], privileged["fingers"][:, 1]
        gap, soon = tcp - lever, ahead - lever
        around = (np.abs(gap[:, 0]) < SIDE) & (gap[:, 1] + far > PAST) & (np.abs(gap[:, 1]) < far)
        over = around & (np.abs(soon[:, 0]) < SIDE) & (soon[:, 1] + far > PAST)
        height = np.where(privileged["lever_angle"] > LEANING, STILL_LOW, LOW)
        hooked, low = around & (gap[:, 2] < height), ~around & (gap[:, 2] < LOW)
        pulled = lever[:, 1] < privileged["goal"][:, 1] - ENOUGH
        target = lever.copy()
        target[:, 1] += BEHIND - far
        target[:, 2] += np.where(hooked, DEEPER, np.where(over, DEEP, CLEARANCE))
        target[low, :2] = tcp[low, :2]
        target[hooked, 1] = (tcp[:, 1] + np.where(pulled, 0, PULL))[hooked]
        return target, False

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the lever's tip is past the mark."""
        return np.asarray(privileged["lever"][:, 1] < privileged["goal"][:, 1])

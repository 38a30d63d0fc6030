"""push: down on the cube, and take it to the target by the friction there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.push import TOLERANCE
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.clearance import clear_of_what_was_moved
from etude.oracles.tabletop.motion import Floats, TabletopOracle

# Metres from the cube's centre to the tool centre point, whose finger tips reach 11 mm lower; the cube is 40 mm wide.
BEHIND = 0.008  # sideways, against the way: under load the cube tips over its front edge if pressed further ahead
MIDDLE, HELD = 0.007, 0.021  # sideways from there, where the tips can come down, and still hold the cube
EDGE = 0.03  # sideways, where they may still be above it
CLEARANCE = 0.04  # above, to pass over the cube
ON = 0.036  # above, where the tips have come down on it
PRESS = 0.018  # above, to press it down
FIRM = 0.006  # below the tips, where the setpoint presses
START, STRIDE = 0.02, 0.035  # ahead, at first and at most
EASE = 0.4  # of the way that is left, ahead at the end
NEARLY = 0.008  # from the target


class PushOracle(TabletopOracle):
    """Moves the cube from above, where nothing turns it or lets it slip aside."""

    task = "push"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """Low over the cube, down a little behind its middle, and on; tips that are beside it, or have done, rise."""
        tcp, cube = privileged["tcp"], np.array(privileged["cube"])
        way = (privileged["goal"] - cube)[:, :2]
        left = np.sqrt(way[:, 0] ** 2 + way[:, 1] ** 2)
        cube[:, :2] -= way * (BEHIND / np.maximum(left, BEHIND))[:, None]
        gap, soon = np.abs(tcp - cube), np.abs(ahead - cube)
        over = (gap[:, :2] < MIDDLE).all(axis=1) & (soon[:, :2] < MIDDLE).all(axis=1)
        on = (gap[:, :2] < HELD).all(axis=1) & ((tcp - cube)[:, 2] < ON)
        low = (tcp[:, 2] - cube[:, 2] < ON) & ~on & ~over
        beside = low & (gap[:, :2] > EDGE).any(axis=1)
        target = cube.copy()
        target[:, 2] += np.where((over | on) & (left > NEARLY), PRESS, CLEARANCE + 0.02 * beside)
        target[low, :2] = tcp[low, :2]
        speed = np.sqrt((ahead - tcp)[:, 0] ** 2 + (ahead - tcp)[:, 1] ** 2)
        stride = np.minimum(START + speed, np.minimum(STRIDE, EASE * left + NEARLY)) / np.maximum(left, NEARLY)
        pressing = privileged["tcp"][:, 2] - privileged["setpoint"][:, 2] > FIRM
        moving = on & pressing & (left > NEARLY)
        target[moving, :2] = (tcp[:, :2] + way * stride[:, None])[moving]
        there = on & ~moving
        target[there, :2] = tcp[there, :2]
        return clear_of_what_was_moved(privileged, target), True

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube is on the target."""
        gap = privileged["cube"] - privileged["goal"]
        return np.asarray(np.sqrt((gap * gap).sum(axis=1)) < TOLERANCE)

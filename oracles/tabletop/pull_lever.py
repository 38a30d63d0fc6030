"""pull-lever: down around the lever's tip, and take it to the goal with the far finger."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.pull_lever import LENGTH, TOLERANCE
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats, TabletopOracle

SIDE = 0.013
BEHIND = 0.02
PAST = 0.006
CLEARANCE = 0.03
DEEP = -0.006
LOW = 0.008

RADIUS = 0.008
EDGE = 0.011
GENTLY = 0.8


class PullLeverOracle(TabletopOracle):
    """Pulls with the far one of the open fingers, which is behind the lever's tip first."""

    task = "pull-lever"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """Low over the tip, down with it between the fingers, and pull; a finger on or before it rises first."""
        tcp, lever, far = privileged["tcp"], privileged["lever"], privileged["fingers"][:, 1]
        gap, soon = tcp - lever, ahead - lever
        around = (np.abs(gap[:, 0]) < SIDE) & (gap[:, 1] + far > PAST) & (np.abs(gap[:, 1]) < far)
        over = around & (np.abs(soon[:, 0]) < SIDE) & (soon[:, 1] + far > PAST)
        hooked = around & (gap[:, 2] < LOW)
        low = ~around & (gap[:, 2] < LOW)
        target = lever.copy()
        target[:, 1] += BEHIND - far
        target[:, 2] += np.where(over, DEEP, CLEARANCE)
        target[low, :2] = tcp[low, :2]
        return np.where(hooked[:, None], self._pull(privileged, far), target), False

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the lever's tip is at the goal."""
        gap = privileged["lever"] - privileged["goal"]
        return np.asarray(np.sqrt((gap * gap).sum(axis=1)) < TOLERANCE)

    def _pull(self, privileged: Privileged, far: Floats) -> Floats:
        """Where the lever leans on the far finger's lower edge when its tip is at the goal, (N, 3).

        Chasing the tip itself would throw the lever to and fro; and it flies on when pulled at full speed.
        """
        tcp, goal = privileged["tcp"], privileged["goal"]
        sine = np.sin(privileged["lever_angle"]) + (privileged["lever"][:, 1] - goal[:, 1]) / LENGTH
        cosine = np.sqrt(1 - np.clip(sine, 0, 0.9) ** 2)
        below = np.clip(goal[:, 2] - tcp[:, 2] + EDGE, 0, 2 * EDGE)
        target = np.array(goal)
        target[:, 1] += (RADIUS + below * sine) / cosine - far
        target[:, 1] = tcp[:, 1] + GENTLY * (target[:, 1] - tcp[:, 1])
        target[:, 2] += DEEP
        return target

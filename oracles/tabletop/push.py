"""push: behind the cube, and straight on towards the target; around it again where the cube has slipped aside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.push import CLEAR, RESTING, TOLERANCE
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats, TabletopOracle

LOW, HIGH = 0.018, 0.075
BACK = 0.055
GONE = 0.06
TINY = 1e-6
CONTACT = 0.043
FRONT = 0.02
ALIGNED, STRAYED = 0.01, 0.014
ARRIVED, KEPT, RETREAT = 0.018, 0.0245, 0.04
SPEED, GAIN, STEER = 0.015, 0.5, 0.5


class PushOracle(TabletopOracle):
    """Steers by pushing off the cube's middle."""

    task = "push"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """Over the cube to its far side, down, and on; at the target, back a little."""
        tcp, cube, goal = privileged["tcp"], privileged["cube"], privileged["goal"]
        way = (goal - cube)[:, :2]
        left = np.sqrt(way[:, 0] ** 2 + way[:, 1] ** 2)
        along = way / np.maximum(left, TINY)[:, None]
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        gap = (tcp - cube)[:, :2]
        lag = -(gap * along).sum(axis=1)
        stray = (gap * across).sum(axis=1)
        low = tcp[:, 2] < LOW + 0.02
        touching = lag < CONTACT
        arrived = left < np.where(touching, ARRIVED, KEPT)
        on_line = np.abs(stray) < np.where(touching, STRAYED, ALIGNED)
        behind = lag > FRONT
        pushing = low & behind & on_line & ~arrived
        apart = np.sqrt(gap[:, 0] ** 2 + gap[:, 1] ** 2)
        clear = apart > CONTACT
        back = low & behind & touching & ~on_line
        rise = ~clear & ~behind & low
        target = np.empty_like(tcp)
        target[:, :2] = cube[:, :2] - BACK * along
        target[:, 2] = np.where(behind & (low | clear), LOW, HIGH)
        ahead_of = (
            tcp[:, :2] + np.minimum(SPEED, GAIN * left + 0.002)[:, None] * along - STEER * stray[:, None] * across
        )
        target[pushing, :2] = ahead_of[pushing]
        target[back, :2] = (tcp[:, :2] - RETREAT * along)[back]
        target[rise, :2] = tcp[rise, :2]
        target[arrived] = tcp[arrived]
        leaving = arrived & (apart < GONE)
        target[leaving, :2] += (gap * (RETREAT / np.maximum(apart, TINY))[:, None])[leaving]
        return target, True

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the cube lies still on the target."""
        gap = privileged["cube"] - privileged["goal"]
        still = privileged["cube_speed"] < RESTING
        away = privileged["tcp"] - privileged["cube"]
        still &= np.sqrt((away * away).sum(axis=1)) > CLEAR
        return np.asarray(still & (np.sqrt((gap * gap).sum(axis=1)) < TOLERANCE))

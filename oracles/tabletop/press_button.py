"""press-button: the nearer finger low over the button's rim, and down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import BUTTON_PRESSED
from etude.oracles.oracle import Oracle, Privileged
from etude.oracles.tabletop.motion import towards

RIM = 0.065
CLEARANCE = 0.018
THROUGH = -0.03
SUNK = -0.002


class PressButtonOracle(Oracle):
    """Presses with the nearer of the open fingers, which is over the button first."""

    task = "press-button"

    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        """Low over the rim, and down; tips that have sunk below the button's top are beside it, and rise first."""
        tcp, button, fingers = privileged["tcp"], privileged["button"], privileged["fingers"]
        gap = tcp - button
        finger = np.sign(gap[:, 1]) * (fingers[:, 0] + fingers[:, 1]) / 2
        over = (np.abs(gap[:, 0]) < RIM) & (np.abs(gap[:, 1] - finger) < RIM)
        beside = gap[:, 2] < SUNK
        target = button.copy()
        target[:, 1] += finger
        target[beside, :2] = tcp[beside, :2]
        target[:, 2] += np.where(over & ~beside, THROUGH, CLEARANCE)
        return towards(target, privileged)

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the button is pressed."""
        return np.asarray(privileged["button_depth"] > BUTTON_PRESSED)

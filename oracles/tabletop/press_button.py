"""press-button: the nearer finger low over the button's rim, and down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import BUTTON_PRESSED
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.clearance import clear_of_what_was_moved
from etude.oracles.tabletop.motion import Floats, TabletopOracle

# Metres from the middle of the button's top to the finger or the tool centre point, whose tips reach 11 mm lower.
RIM = 0.052  # sideways, where the finger will be over the button
CLEARANCE = 0.02  # above, to pass over the rim
THROUGH = -0.03  # below, to press with all the force there is
SUNK = -0.002  # below, where no tip on the button can be


class PressButtonOracle(TabletopOracle):
    """Presses with the nearer of the open fingers, which is over the button first."""

    task = "press-button"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """Low over the rim, and down; tips that have sunk below the button's top are beside it, and rise first."""
        tcp, button, fingers = privileged["tcp"], privileged["button"], privileged["fingers"]
        finger = np.sign(tcp[:, 1] - button[:, 1]) * (fingers[:, 0] + fingers[:, 1]) / 2
        target = button.copy()
        target[:, 1] += finger
        gap = np.abs(ahead - target)
        over = (gap[:, 0] < RIM) & (gap[:, 1] < RIM)
        beside = tcp[:, 2] - button[:, 2] < SUNK
        target[beside, :2] = tcp[beside, :2]
        target[:, 2] += np.where(over & ~beside, THROUGH, CLEARANCE)
        return clear_of_what_was_moved(privileged, target), False

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the button is pressed."""
        return np.asarray(privileged["button_depth"] > BUTTON_PRESSED)

"""press-button: closed finger tips over the button, and down through it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import BUTTON_PRESSED
from etude.oracles.oracle import Oracle, Privileged
from etude.oracles.tabletop.motion import towards

ABOVE = np.array([0, 0, 0.03])
BELOW = np.array([0, 0, -0.03])


class PressButtonOracle(Oracle):
    """Over the button with closed fingers, and down."""

    task = "press-button"

    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        tcp, button = privileged["tcp"], privileged["button"]
        over = (np.abs(tcp - button)[:, :2] < 0.03).all(axis=1)
        target = button + np.where(over[:, None], BELOW, ABOVE)
        return towards(target, privileged["setpoint"], np.ones(self.size, np.bool_))

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        return np.asarray(privileged["button_depth"] > BUTTON_PRESSED)

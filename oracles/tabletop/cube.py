"""How the tabletop oracles fetch the cube, and move it where it should go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import AWAY, LET_GO
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.clearance import between_walls, clear_of_drawer
from etude.oracles.tabletop.motion import Floats, TabletopOracle

Bools = NDArray[np.bool_]

OVER = 0.045
FREE = 0.1
SIDE = np.array([0.012, 0.011])
AROUND = np.array([0.014, 0.02, 0.02])
CLOSING = 0.01
WIDE = 0.034


class CubeOracle(TabletopOracle):
    """An oracle that can fetch the cube, wherever it was dropped, and tells when it has left it alone."""

    def fetch(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, Bools]:
        """Low over the cube, the open fingers down around it, and close.

        Args:
            privileged: the environment's privileged state.
            ahead: (N, 3) where the tips are one step later if they go on as in the last step.

        Returns:
            Where the finger tips should go, (N, 3), and whether the gripper shall be closed, (N,).
        """
        tcp, cube = privileged["tcp"], between_walls(privileged)
        gap, soon = np.abs(tcp - cube), np.abs(ahead - cube)
        over = (gap[:, :2] < SIDE).all(axis=1) & (soon[:, :2] < SIDE).all(axis=1)
        around = (gap[:, :2] < AROUND[:2]).all(axis=1) & (np.minimum(ahead, tcp)[:, 2] - cube[:, 2] < CLOSING)
        low = (tcp[:, 2] - cube[:, 2] < 0.8 * OVER) & ~around & ~over
        wide = privileged["fingers"].min(axis=1) > WIDE
        target = cube.copy()
        target[:, 2] += np.where(around | (over & wide), 0, np.where(over, FREE, OVER))
        target[low, :2] = tcp[low, :2]
        return clear_of_drawer(privileged, target), around

    @staticmethod
    def left_alone(privileged: Privileged) -> Bools:
        """Whether the gripper is open, and away from the cube, (N,)."""
        gap = privileged["tcp"] - privileged["cube"]
        away = np.sqrt((gap * gap).sum(axis=1)) > AWAY
        return np.asarray(away & (privileged["fingers"].min(axis=1) > LET_GO))

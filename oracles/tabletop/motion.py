"""From where the finger tips should go to the action that takes them there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import SETPOINT_RATE
from etude.oracles.oracle import Privileged

LEAD = 0.6


def towards(
    target: NDArray[np.float64], privileged: Privileged, closed: NDArray[np.bool_] | bool = False
) -> NDArray[np.float32]:
    """Actions that take the finger tips to the target as fast as the action allows, (N, 4).

    The arm follows its setpoint like a spring, so the setpoint runs ahead of the target by a share of what is left.

    Args:
        target: (N, 3) metres.
        privileged: the environment's privileged state.
        closed: (N,) whether the gripper shall be closed.
    """
    setpoint = target + LEAD * (target - privileged["tcp"])
    actions = np.empty((len(target), 4), np.float32)
    actions[:, :3] = np.clip((setpoint - privileged["setpoint"]) / SETPOINT_RATE, -1, 1)
    actions[:, 3] = np.where(closed, 1, -1)
    return actions

"""From where the finger tips should go to the action that takes them there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import SETPOINT_RATE

Floats = NDArray[np.float64]


def towards(target: Floats, setpoint: Floats, closed: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Actions, (N, 4), that move the setpoint towards the target as fast as the action allows.

    Args:
        target: (N, 3) metres.
        setpoint: (N, 3) metres, where the finger tips are sent now.
        closed: (N,) whether the gripper shall be closed.
    """
    step = np.clip((target - setpoint) / SETPOINT_RATE, -1, 1)
    return np.concatenate([step, np.where(closed, 1.0, -1.0)[:, None]], axis=1).astype(np.float32)

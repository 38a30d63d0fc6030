"""From where the finger tips should go to the action that takes them there."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from etude.envs.errors import RequestError
from etude.envs.tabletop.scene import SETPOINT_RATE
from etude.oracles.oracle import Oracle, Privileged

Floats = NDArray[np.float64]


class TabletopOracle(Oracle):
    """An oracle that says where the finger tips should go, and takes them there as fast as the action allows.

    The arm swings after its setpoint like a spring: the setpoint leads by a share of the distance that is left, and
    brakes against the last step's motion.

    Attributes:
        lead: of the distance that is left.
        brake: of the last step's motion; where overshooting costs, more of it.
    """

    lead: ClassVar[float] = 0.7
    brake: ClassVar[float] = 0.4

    def __init__(self, size: int) -> None:
        """Make the policy of `size` simulations."""
        super().__init__(size)
        self._tcp = np.zeros((size, 3))

    @abstractmethod
    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, NDArray[np.bool_] | bool]:
        """Where the finger tips should go, (N, 3), and whether the gripper shall be closed, (N,).

        Args:
            privileged: the environment's privileged state.
            ahead: (N, 3) where the tips are one step later if they go on as in the last step.
        """

    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        """Actions, (N, 4), that take the finger tips where they should go.

        Raises:
            RequestError: what `aim` gives is of the wrong shape.
        """
        tcp = privileged["tcp"]
        moved = np.where(privileged["elapsed"][:, None] > 0, tcp - self._tcp, 0)
        self._tcp = tcp.copy()
        target, closed = self.aim(privileged, tcp + moved)
        if np.shape(target) != tcp.shape:
            told = f"a target of shape {np.shape(target)}, must be (N, 3), here {tcp.shape}"
            raise RequestError(f"oracle of {self.task}: aim gives {told}")
        if np.shape(closed) not in ((), (self.size,)):
            told = f"whether to close of shape {np.shape(closed)}, must be (N,), here ({self.size},), or one bool"
            raise RequestError(f"oracle of {self.task}: aim gives {told}")
        setpoint = target + self.lead * (target - tcp) - self.brake * moved
        actions = np.empty((self.size, 4), np.float32)
        actions[:, :3] = np.clip((setpoint - privileged["setpoint"]) / SETPOINT_RATE, -1, 1)
        actions[:, 3] = np.where(closed, 1, -1)
        return actions

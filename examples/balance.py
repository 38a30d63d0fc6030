"""balance and balance-pushed: Gymnasium's InvertedPendulum as two tasks, with a scripted oracle and a floor."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude import Oracle, register_environment, register_floor, register_oracle
from etude.oracles.oracle import Privileged

UPRIGHT = 0.2  # radians from the vertical, beyond which an episode ends
GAINS = np.array([1.0, 24.0, 2.0, 3.5])  # of the cart's place, the pole's angle, and their speeds


def state(env: Any) -> dict[str, NDArray[np.float64]]:
    """Place and angle, (2,), and their speeds, (2,)."""
    return {"position": env.data.qpos.copy(), "speed": env.data.qvel.copy()}


def upright(env: Any) -> bool:
    """Whether the pole stands."""
    return bool(abs(env.data.qpos[1]) < UPRIGHT)


class BalanceOracle(Oracle):
    """Moves the cart under the pole."""

    task = "balance"

    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        """Linear in the state, (N, 1)."""
        state = np.concatenate([privileged["position"], privileged["speed"]], axis=1)
        force = np.clip((state * GAINS).sum(axis=1, keepdims=True), -3, 3)
        return np.asarray(force, np.float32)


class BalancePushedOracle(BalanceOracle):
    """The same, from further off."""

    task = "balance-pushed"


class LeanFloor(Oracle):
    """Moves the cart to where the pole leans, blind to their speeds: the pole falls later than it would by itself."""

    task = "balance-pushed"

    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        """In proportion to the angle, (N, 1)."""
        return np.asarray(12 * privileged["position"][:, 1:], np.float32)


register_environment("InvertedPendulum-v5", id="balance", privileged=state, success=upright, horizon=100)
register_environment(
    "InvertedPendulum-v5",
    id="balance-pushed",
    privileged=state,
    success=upright,
    horizon=100,
    starts="cart and pole off by as much as 0.1 m and 0.1 rad",
    options={"reset_noise_scale": 0.1},
)
register_oracle(BalanceOracle)
register_oracle(BalancePushedOracle)
register_floor(LeanFloor)

"""A search over policies that come to nothing: none of them is paid for it."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from etude.envs import get_task, task_ids
from etude.envs.tabletop.composition import STAGE
from etude.envs.tabletop.scene import SETPOINT_RATE, Scene
from etude.envs.vector import TabletopVectorEnv
from etude.oracles import measure_oracle

POINTS = ("goal", "cube", "handle", "button", "lever", "pad")
HEIGHTS = (0.0, 0.05, 0.12)
STARTS = 3

Floats = NDArray[np.float64]


def constant() -> Floats:
    """Every corner, edge and middle of the action space, (P, 4)."""
    return np.array(list(product((-1, 0, 1), repeat=4)), np.float64)


def periodic(step: int) -> Floats:
    """Waves along each axis, out of step with one another, the gripper opening and closing, (P, 4)."""
    rng = np.random.default_rng(0)
    period, phase, size = rng.uniform(4, 60, (32, 4)), rng.uniform(0, 2 * np.pi, (32, 4)), rng.uniform(0.2, 1, (32, 4))
    waves: Floats = size * np.sin(2 * np.pi * step / period + phase)
    return waves


def hovering(scene: Scene, rows: slice) -> Floats:
    """To each point of interest, at each height over it, with the gripper open and closed, (P, STARTS, 4)."""
    moves = []
    for point, height, gripper in product(POINTS, HEIGHTS, (-1.0, 1.0)):
        k = rows.start + len(moves) * STARTS
        own = slice(k, k + STARTS)
        way = getattr(scene, point)[own] + [0, 0, height] - scene.setpoint[own]
        moves.append(np.column_stack([np.clip(way / SETPOINT_RATE, -1, 1), np.full(STARTS, gripper)]))
    return np.array(moves)


@pytest.mark.slow
@pytest.mark.parametrize("task", task_ids())
def test_no_policy_that_completes_no_stage_earns_30_percent_of_the_oracle(task: str) -> None:
    fixed, waving, hovers = len(constant()), len(periodic(0)), len(POINTS) * len(HEIGHTS) * 2
    policies = fixed + waving + hovers + 1
    env = TabletopVectorEnv(task, policies * STARTS, autoreset_mode="Disabled")
    env.reset(seed=list(range(STARTS)) * policies)
    rng = np.random.default_rng(1)
    returns, fruitless = np.zeros(env.num_envs), np.ones(env.num_envs, np.bool_)
    for step in range(get_task(task).horizon):
        actions = np.concatenate(
            [
                np.repeat(constant(), STARTS, axis=0),
                np.repeat(periodic(step), STARTS, axis=0),
                hovering(env.scene, slice((fixed + waving) * STARTS, None)).reshape(-1, 4),
                rng.uniform(-1, 1, (STARTS, 4)),
            ]
        )
        _, rewards, _, _, info = env.step(actions)
        returns += rewards
        fruitless &= ~info["success"]
        if get_task(task).kind == "composition":
            fruitless &= env.scene.latch[:, STAGE] == 0
    env.close()
    assert fruitless.mean() > 0.5
    assert returns[fruitless].max() <= 0.3 * measure_oracle(task, 32)["oracle"]["return"]

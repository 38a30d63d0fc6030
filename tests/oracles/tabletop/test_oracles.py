"""What every oracle of the tabletop must reach, on starts that it was not tuned on."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from etude.envs import get_task, task_ids
from etude.oracles import Episodes, evaluation_seeds, rollout
from etude.oracles.policies import oracle_policy

TASKS = task_ids()


def play(task: str, episodes: int, noise: float = 0, seeds: list[int] | None = None) -> Episodes:
    env = get_task(task).make_vector(episodes)
    seeds = evaluation_seeds(task, episodes, "proof") if seeds is None else seeds
    act = oracle_policy(task, env)
    rng = np.random.default_rng(0)

    def noisy(observations: NDArray[Any]) -> NDArray[Any]:
        actions = act(observations)
        return actions + noise * rng.standard_normal(actions.shape) if noise else actions

    try:
        return rollout(env, noisy, seeds)
    finally:
        env.close()


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_oracle_succeeds_on_99_of_100_starts_and_varies_by_a_twentieth(task: str) -> None:
    played = play(task, 500)
    assert played.successes.mean() >= 0.99
    assert played.returns.std(ddof=1) / played.returns.mean() <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_oracle_bears_noise_in_its_actions(task: str) -> None:
    assert play(task, 200, noise=0.1).successes.mean() >= 0.95


@pytest.mark.parametrize("task", TASKS)
def test_one_simulation_and_64_play_the_same_bits(task: str) -> None:
    seeds = evaluation_seeds(task, 64, "proof")
    many = play(task, 64)
    for row in (0, 37):
        one = play(task, 1, seeds=[seeds[row]])
        assert one.returns[0] == many.returns[row]
    assert many.successes.mean() >= 0.95


@pytest.mark.parametrize("task", TASKS)
def test_the_oracles_actions_lie_in_the_action_space(task: str) -> None:
    env = get_task(task).make_vector(4)
    env.reset(seed=0)
    act = oracle_policy(task, env)
    for _ in range(get_task(task).horizon - 1):
        actions = act(np.zeros(0))
        assert env.action_space.contains(actions)
        env.step(actions)
    env.close()

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from etude.envs import stream_seed
from etude.oracles import Episodes, evaluation_seeds, rollout


class Count(gymnasium.Env[Any, Any]):
    """Ends after as many steps as its seed says; the last step of an even seed is a success, and each pays 1."""

    observation_space = Box(0, 100, (1,), np.float32)
    action_space = Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.left = self.length = 5 if seed is None else seed
        return np.zeros(1, np.float32), {"success": False}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        over = self.left == 0
        even = self.length % 2 == 0
        return np.zeros(1, np.float32), 1.0, over and even, over and not even, {"success": over and even}


def count(seeds: list[int], mode: AutoresetMode = AutoresetMode.SAME_STEP) -> Episodes:
    env = SyncVectorEnv([Count] * len(seeds), autoreset_mode=mode)
    return rollout(env, lambda observations: np.zeros(len(observations), int), seeds)


def test_each_rows_first_episode_counts_and_no_more() -> None:
    played = count([3, 4, 1, 6])
    assert played.lengths.tolist() == [3, 4, 1, 6]
    assert played.returns.tolist() == [3, 4, 1, 6]


def test_success_is_that_of_the_first_episodes_last_step() -> None:
    assert count([3, 4, 1, 6]).successes.tolist() == [False, True, False, True]
    assert count([3, 4, 1, 6], AutoresetMode.NEXT_STEP).successes.tolist() == [False, True, False, True]


def test_an_environment_without_a_success_test_never_succeeds() -> None:
    env = gymnasium.make_vec(
        "CartPole-v1",
        num_envs=3,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
    )
    played = rollout(env, lambda observations: np.zeros(len(observations), int), [0, 1, 2])
    assert not played.successes.any()
    assert (played.lengths < 20).all() and np.array_equal(played.returns, played.lengths)


def test_a_record_holds_plain_numbers() -> None:
    record = count([1, 2]).record()
    assert record == {"returns": [1.0, 2.0], "successes": [False, True], "lengths": [1, 2]}
    assert {type(value) for values in record.values() for value in values} == {float, bool, int}


def test_evaluation_seeds_are_those_of_the_stream_without_a_run_seed() -> None:
    assert evaluation_seeds("reach", 3) == [stream_seed("evaluation", "reach", episode) for episode in range(3)]


def test_evaluation_seeds_are_distinct_across_tasks_sets_and_episodes() -> None:
    seeds = [seed for task in ("reach", "open-drawer") for seed in evaluation_seeds(task, 50)]
    seeds += evaluation_seeds("reach", 50, "validation")
    assert len(set(seeds)) == 150


def test_more_episodes_begin_with_the_same_ones() -> None:
    assert evaluation_seeds("reach", 20)[:5] == evaluation_seeds("reach", 5)

from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from etude.curriculum.metrics.policies.played import play
from etude.envs import get_task
from etude.oracles import Oracle, evaluation_seeds, get_oracle, measure_references, registry

TASKS = ("reach", "press-button", "pull-lever")
SEEDS = evaluation_seeds("reach", 3, "validation")


class Adviser:
    """Acts as an oracle does, whatever the task."""

    def __init__(self, task: str, envs: Any) -> None:
        self.oracle, self.envs = get_oracle(task)(envs.num_envs), envs
        self.oracle.reset(np.arange(envs.num_envs))

    def act(self, observations: np.ndarray) -> np.ndarray:
        return self.oracle.act(self.envs.unwrapped.privileged_state())


class Critic:
    """Stands still, and takes the sum of an observation for its value."""

    def act(self, observations: np.ndarray) -> np.ndarray:
        return np.zeros((len(observations), 4), np.float32)

    def value(self, observations: np.ndarray) -> np.ndarray:
        return observations.sum(axis=1)

    def discount(self) -> float:
        return 0.9


def played(make: Callable[[Any], Any], tasks: tuple[str, ...], own: int) -> Any:
    with closing(get_task(tasks[own]).make_vector(len(SEEDS))) as envs:
        return play(make(envs), envs, SEEDS, tasks, own)


def test_who_acts_as_the_tasks_oracle_is_not_confused() -> None:
    found = played(lambda envs: Adviser("reach", envs), TASKS, 0)
    assert found["shares"][:2].tolist() == [1, 0]
    assert found["returns"] == pytest.approx(measure_references("reach", 3, SEEDS)["oracle"]["returns"])


def test_who_acts_as_another_tasks_oracle_is_taken_for_it() -> None:
    shares = played(lambda envs: Adviser("press-button", envs), TASKS, 0)["shares"]
    assert shares[1] > 0.9 and shares[0] < 0.1


def test_an_oracle_that_needs_what_a_task_does_not_have_is_no_choice_there(monkeypatch: pytest.MonkeyPatch) -> None:
    class Weigher(Oracle):
        task = "pull-lever"

        def act(self, privileged: dict[str, Any]) -> np.ndarray:
            return np.full((self.size, 4), privileged["weight"])

    monkeypatch.setitem(registry._classes, "pull-lever", Weigher)
    shares = played(lambda envs: Adviser("reach", envs), TASKS, 0)["shares"]
    assert np.isnan(shares).tolist() == [False, False, True]


def test_values_and_discounted_returns_are_those_of_an_episode_played_by_hand() -> None:
    found = played(lambda envs: Critic(), TASKS, 1)
    for row, seed in enumerate(SEEDS):
        with closing(get_task("press-button").make_vector(1, autoreset_mode="Disabled")) as envs:
            observations, _ = envs.reset(seed=seed)
            assert found["first"][row] == pytest.approx(observations.sum())
            worth, left, over, steps = 0.0, 1.0, False, 0
            while not over:
                observations, rewards, _, truncated, _ = envs.step(np.zeros((1, 4), np.float32))
                worth += left * rewards[0]
                left *= 0.9
                steps += 1
                over = bool(truncated[0])
        assert found["discounted"][row] == pytest.approx(worth)
        assert found["last"][row] == pytest.approx(observations.sum())
        assert found["lengths"][row] == steps == get_task("press-button").horizon


def test_an_agent_without_values_has_none() -> None:
    found = played(lambda envs: Adviser("reach", envs), TASKS, 0)
    assert np.isnan(found["first"]).all() and np.isnan(found["last"]).all()

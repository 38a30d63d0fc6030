import re
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from etude.envs import RequestError, RunError, get_task
from etude.envs.tabletop.reach import Reach
from etude.oracles import Oracle, evaluation_seeds, measure_references
from etude.oracles.policies import random_policy, zero_policy

NOTHING = np.zeros((3, 1))


@pytest.fixture
def env() -> Iterator[Any]:
    env = get_task("reach").make_vector(3)
    yield env
    env.close()


class Flat(Oracle):
    task = "reach"

    def act(self, privileged: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
        return np.zeros(4, np.float32)


class Lost(Oracle):
    task = "reach"

    def act(self, privileged: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
        actions = np.zeros((self.size, 4), np.float32)
        actions[1, 2] = np.nan
        return actions


def test_actions_of_the_wrong_shape_are_refused_by_the_oracles_name(own_registry: dict[str, Any]) -> None:
    own_registry["reach"] = Flat
    expected = r"task 'reach': its oracle Flat gave actions of shape \(4,\); the action space has \(3, 4\)"
    with pytest.raises(RequestError, match=expected):
        measure_references("reach", 3)


def test_actions_that_are_not_finite_are_refused_by_the_oracles_name(own_registry: dict[str, Any]) -> None:
    own_registry["reach"] = Lost
    with pytest.raises(RequestError, match="its oracle Lost gave actions that are not finite, first in row 1"):
        measure_references("reach", 3)


@pytest.mark.parametrize("given", [[[1], [2, 3]], np.full((3, 4), "a"), np.full((3, 4), None), "left"])
def test_actions_that_are_no_numbers_are_refused_by_the_oracles_name(given: Any, own_registry: dict[str, Any]) -> None:
    own_registry["reach"] = type("Wordy", (Flat,), {"act": lambda self, privileged: given})
    with pytest.raises(RequestError, match="its oracle Wordy gave actions that are no array of numbers: ") as caught:
        measure_references("reach", 3)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [(), (2,), (1, 3)])
def test_privileged_state_without_a_row_a_simulation_is_refused(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Reach, "privileged", lambda self, scene: {"way": np.zeros(shape)})
    told = re.escape(f"task 'reach': privileged gives 'way' of shape {shape}, must be (3, ...), a row a simulation")
    with pytest.raises(RequestError, match=told):
        measure_references("reach", 3)


def test_an_oracle_that_is_not_made_for_a_number_of_simulations_is_named(own_registry: dict[str, Any]) -> None:
    own_registry["reach"] = type("Sizeless", (Flat,), {"__init__": lambda self: None})
    with pytest.raises(RunError, match="task reach: its oracle Sizeless, made for 3 simulations, raised TypeError: "):
        measure_references("reach", 3)


def test_random_actions_are_uniform_over_the_action_space(env: Any) -> None:
    act = random_policy("reach", env, evaluation_seeds("reach", 3))
    actions = np.stack([act(NOTHING) for _ in range(2000)])
    assert actions.shape == (2000, 3, 4) and env.action_space.contains(actions[0])
    assert np.abs(actions.mean(axis=0)).max() < 0.05
    assert np.abs(actions.std(axis=0) - 1 / np.sqrt(3)).max() < 0.03


def test_random_actions_belong_to_the_episode(env: Any) -> None:
    first = random_policy("reach", env, [7, 8, 9])
    again = random_policy("reach", env, [9, 1, 7])
    for _ in range(5):
        a, b = first(NOTHING), again(NOTHING)
        assert np.array_equal(a[0], b[2]) and np.array_equal(a[2], b[0]) and not np.array_equal(a[1], b[1])


def test_discrete_actions_are_drawn_too() -> None:
    env = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
    act = random_policy("cart-pole", env, [1, 2])
    actions = np.stack([act(NOTHING) for _ in range(100)])
    assert actions.shape == (100, 2) and set(actions.ravel()) == {0, 1}


def test_two_tasks_do_not_share_random_actions(env: Any) -> None:
    assert not np.array_equal(
        random_policy("reach", env, [7, 8, 9])(NOTHING), random_policy("x", env, [7, 8, 9])(NOTHING)
    )


def test_the_zero_action_is_zero_in_the_action_space(env: Any) -> None:
    actions = zero_policy(env)(NOTHING)
    assert not actions.any() and env.action_space.contains(actions)

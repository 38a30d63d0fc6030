from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from etude.envs import get_task, task_ids
from etude.envs.tabletop.composition import STAGE
from etude.envs.tabletop.rewards import closeness, staged
from etude.envs.tabletop.scene import Scene
from etude.envs.vector import TabletopVectorEnv
from etude.oracles import get_oracle

MakeVector = Callable[..., TabletopVectorEnv]

GRIPPED = {"grasp", "lift", "carry", "place", "drop-in-drawer"}
PRIMITIVES = [task_id for task_id in task_ids() if get_task(task_id).kind == "primitive"]
COMPOSITIONS = [task_id for task_id in task_ids() if get_task(task_id).kind == "composition"]
WITH_CUBE = {task_id for task_id in task_ids() if {"push", "stack", *GRIPPED} & {task_id, *get_task(task_id).parts}}
SWINGING = {"press-button", "unlock-drawer", "retrieve", "stow", "tidy"}  # past a rim or a handle, at full speed
Floats = NDArray[np.float64]


def play_oracle(env: TabletopVectorEnv, seed: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Rewards and successes of one episode each, (H, N), by the task's oracle."""
    oracle = get_oracle(env.task.id)(env.num_envs)
    env.reset(seed=seed)
    oracle.reset(np.arange(env.num_envs))
    rewards, successes = [], []
    for _ in range(env.task.horizon):
        _, reward, _, _, info = env.step(oracle.act(env.privileged_state()))
        rewards.append(reward)
        successes.append(info["success"])
    return np.array(rewards), np.array(successes)


def test_closeness_falls_all_the_way_and_does_not_fade() -> None:
    distance = np.linspace(0.02, 0.8, 200)
    value = closeness(distance, within=0.02, far=0.8, near=0.1)
    slope = -np.diff(value) / np.diff(distance)
    assert value[0] == 1 and np.all(slope > 0.6) and np.all((value >= 0) & (value <= 1))
    assert np.all(closeness(distance / 40, within=0.02, far=0.8, near=0.1) == 1)
    assert np.all(closeness(distance + 2, within=0.02, far=0.8, near=0.1) < 1e-6)


def test_a_stage_more_is_worth_more_than_any_progress() -> None:
    scene = Scene(5)
    first, second = np.array([0, 0.99, 0.3, 0.3, 0.3]), np.array([0.4, 0.4, 0, 0.99, 0.4])
    reward = staged(scene, np.array([0.0, 0, 1, 1, 2]), (lambda _: first, lambda _: second))
    assert np.allclose(reward, [0, 0.495, 0.5, 0.995, 1])


@pytest.mark.parametrize("task_id", task_ids())
def test_a_reward_is_one_exactly_while_the_task_is_solved(task_id: str, make: MakeVector) -> None:
    env = make(task_id, 32)
    rewards, successes = play_oracle(env, seed=0)
    assert successes[-1].all()
    assert np.all((rewards >= 0) & (rewards <= 1))
    assert np.array_equal(rewards == 1, successes)


@pytest.mark.parametrize("task_id", task_ids())
def test_the_reward_never_falls_along_the_way_to_success(task_id: str, make: MakeVector) -> None:
    """But for a swing of the arm, and for the one episode in twenty in which a cube may slip."""
    rewards, _ = play_oracle(make(task_id, 64), seed=0)
    fall = (np.maximum.accumulate(rewards, axis=0) - rewards).max(axis=0)
    slips = 0.05 if task_id in WITH_CUBE else 0
    assert np.mean(fall > (0.025 if task_id in SWINGING else 0.005)) <= slips


@pytest.mark.parametrize("task_id", PRIMITIVES)
def test_no_failing_episode_of_a_primitive_earns_more_than_half_the_oracles_return(
    task_id: str, make: MakeVector
) -> None:
    env = make(task_id, 64)
    rewards, successes = play_oracle(env, seed=0)
    assert env.task.horizon * rewards[~successes].max() <= 0.5 * rewards.sum(axis=0).mean()


@pytest.mark.parametrize("task_id", COMPOSITIONS)
def test_hovering_after_a_stage_earns_less_than_after_the_next(task_id: str, make: MakeVector) -> None:
    """Frozen at any moment of a stage, for a whole episode."""
    env = make(task_id, 32)
    oracle, parts = get_oracle(task_id)(32), len(get_task(task_id).parts)
    env.reset(seed=0)
    oracle.reset(np.arange(32))
    for _ in range(env.task.horizon):
        _, reward, _, _, info = env.step(oracle.act(env.privileged_state()))
        stage = env.scene.latch[:, STAGE]
        assert np.all(np.where(info["success"], reward == 1, (stage <= parts * reward) & (parts * reward < stage + 1)))
    assert info["success"].all()


def test_hovering_over_the_button_earns_less_than_a_third(make: MakeVector) -> None:
    """Frozen at the best moment of each stage, for a whole episode."""
    env = make("unlock-drawer", 32)
    oracle = get_oracle("unlock-drawer")(32)
    env.reset(seed=0)
    oracle.reset(np.arange(32))
    best = np.zeros((32, 3))
    for _ in range(env.task.horizon):
        _, reward, _, _, info = env.step(oracle.act(env.privileged_state()))
        stage = np.where(info["success"], 2, env.scene.latch[:, 0].astype(int))
        np.maximum.at(best, (np.arange(32), stage), reward)
    assert np.all(best[:, 0] < 0.5) and np.all(best[:, 1] >= 0.5)
    assert np.all(best[:, 1] < 1) and np.all(best[:, 2] == 1)


@pytest.mark.parametrize("task_id", task_ids())
def test_rewards_and_successes_are_pure(task_id: str, make: MakeVector) -> None:
    env = make(task_id, 8)
    env.reset(seed=0)
    env.step(np.ones((8, 4)))
    before = env.scene.batch.state.copy()
    first = env.task.reward(env.scene), env.task.success(env.scene)
    second = env.task.reward(env.scene), env.task.success(env.scene)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert np.array_equal(before, env.scene.batch.state)

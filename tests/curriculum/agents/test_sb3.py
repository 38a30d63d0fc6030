import json
import random
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, VectorEnv

from etude.curriculum.agents import Diverged
from etude.curriculum.agents.generators import generators_state
from etude.curriculum.agents.sb3 import SB3Agent
from etude.curriculum.observations import EpisodeTally
from etude.envs import make_vector
from etude.envs.errors import RequestError, RunError

FALLING = {"schedule": "linear", "start": 1e-3, "end": 0}
PPO = {"n_steps": 8, "batch_size": 16, "n_epochs": 2, "learning_rate": FALLING, "clip_range": FALLING}
SAC = {"learning_starts": 24, "batch_size": 16, "buffer_size": 500, "learning_rate": FALLING}
SAC |= {"policy_kwargs": {"net_arch": [16]}}
TD3 = SAC | {"action_noise": {"noise": "ornstein-uhlenbeck", "sigma": 0.2}}
AGENTS = [
    ("PPO", PPO),
    ("PPO", PPO | {"use_sde": True}),
    ("A2C", {"n_steps": 8}),
    ("TRPO", {"n_steps": 8, "batch_size": 16}),
    ("SAC", SAC),
    ("SAC", SAC | {"replay_buffer": "keep", "n_steps": 3, "train_freq": 4, "gradient_steps": 2}),
    ("SAC", SAC | {"optimize_memory_usage": True, "replay_buffer_kwargs": {"handle_timeout_termination": False}}),
    ("TD3", TD3),
    ("DDPG", SAC),
    ("TQC", SAC),
    ("CrossQ", SAC),
]
NAMES = [f"{name}{i}" for i, (name, _) in enumerate(AGENTS)]
OBSERVATIONS = np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3)


def pendulums(number: int = 4) -> VectorEnv[Any, Any, Any]:
    envs = gym.make_vec("Pendulum-v1", num_envs=number, vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP})
    envs.reset(seed=7)
    return envs


def make(algorithm: str, parameters: dict[str, Any], envs: VectorEnv[Any, Any, Any], seed: int = 3) -> SB3Agent:
    spaces = envs.single_observation_space, envs.single_action_space
    return SB3Agent(algorithm, *spaces, envs.num_envs, parameters, seed)


def weights(agent: SB3Agent) -> list[torch.Tensor]:
    return [value.clone() for value in agent._model.policy.state_dict().values()]


def same(some: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(some, others, strict=True))


@pytest.mark.parametrize(("algorithm", "parameters"), AGENTS, ids=NAMES)
def test_learning_in_stretches_gives_the_same_bits_as_in_one(algorithm: str, parameters: dict[str, Any]) -> None:
    learnt = []
    for stretches in (1, 5):
        agent = make(algorithm, parameters, pendulums())
        for task in ("first", "second"):
            agent.begin_task(task, pendulums(), budget=160)
            for _ in range(stretches):
                agent.learn(160 // stretches)
                agent.act(OBSERVATIONS)
            agent.end_task(task)
        learnt.append(weights(agent))
    assert same(*learnt)


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "parameters", "environments"), [("PPO", PPO, 32), ("SAC", SAC, 16)])
def test_five_stretches_of_2048_steps_are_one_of_10240(
    algorithm: str, parameters: dict[str, Any], environments: int
) -> None:
    learnt = []
    for stretches in (1, 5):
        agent = make(algorithm, parameters, pendulums(environments))
        agent.begin_task("only", pendulums(environments), budget=20_480)
        for _ in range(stretches):
            agent.learn(10_240 // stretches)
        learnt.append(weights(agent))
    assert same(*learnt)


@pytest.mark.parametrize(("algorithm", "parameters"), AGENTS, ids=NAMES)
def test_a_loaded_agent_learns_on_with_the_same_bits(
    algorithm: str, parameters: dict[str, Any], tmp_path: Path
) -> None:
    def tabletop() -> EpisodeTally:
        envs = EpisodeTally(make_vector("reach", 4))
        envs.reset(seed=[1, 2, 3, 4])
        return envs

    envs = tabletop()
    agent = make(algorithm, parameters, envs)
    for task in ("first", "second"):
        agent.begin_task(task, envs, budget=320)
        agent.learn(32)
    agent.save(tmp_path)
    snapshot = envs.snapshot()
    agent.learn(64)

    random.seed(0), np.random.seed(0), torch.manual_seed(0)
    others = EpisodeTally(make_vector("reach", 4))
    others.restore(snapshot)
    other = make(algorithm, parameters, others, seed=99)
    other.load(tmp_path, "second", others, budget=320)
    other.learn(64)
    assert same(weights(agent), weights(other))
    assert agent.statistics() == other.statistics()
    assert all(np.array_equal(value, others.snapshot()[name]) for name, value in envs.snapshot().items())


def test_a_save_holds_no_pickle(tmp_path: Path) -> None:
    agent = make("SAC", TD3, pendulums())
    agent.begin_task("only", pendulums(), budget=64)
    agent.learn(32)
    agent.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"agent.pt", "agent.json", "replay.npz"}
    torch.load(tmp_path / "agent.pt", weights_only=True)
    with np.load(tmp_path / "replay.npz", allow_pickle=False) as buffer:
        assert len(buffer["observations"]) == 9, "only what has been filled is stored, and the row after it"


def test_a_replay_buffer_that_files_cannot_hold_is_refused_by_name(tmp_path: Path) -> None:
    agent = make("SAC", SAC, pendulums())
    agent.begin_task("only", pendulums(), budget=64)
    agent._model.replay_buffer.priorities = {}  # type: ignore[attr-defined]
    with pytest.raises(RunError, match=r"ReplayBuffer\.priorities"):
        agent.save(tmp_path)


@pytest.mark.parametrize(("algorithm", "parameters"), [("PPO", PPO), ("SAC", SAC | {"replay_buffer": "keep"})])
def test_a_loaded_agent_shows_the_same_latest_observations_as_a_task_begins(
    algorithm: str, parameters: dict[str, Any], tmp_path: Path
) -> None:
    agent, other = make(algorithm, parameters, pendulums()), make(algorithm, parameters, pendulums())
    agent.begin_task("first", pendulums(), budget=64)
    agent.learn(64)
    agent.save(tmp_path)
    other.load(tmp_path, "first", pendulums(), budget=64)
    for each in (agent, other):
        each.begin_task("second", pendulums(), budget=64)
    assert np.array_equal(agent.latest_observations(20), other.latest_observations(20))


def test_steps_are_exact_and_no_part_of_a_rollout_is_learnt() -> None:
    agent = make("PPO", PPO, pendulums())
    agent.begin_task("only", pendulums(), budget=640)
    agent.learn(192)
    assert agent._model.num_timesteps == 192
    with pytest.raises(ValueError, match="rollout of 32"):
        agent.learn(100)


@pytest.mark.parametrize(("algorithm", "parameters"), [("PPO", PPO), ("SAC", SAC)])
def test_schedules_restart_with_each_task_and_end_with_its_budget(algorithm: str, parameters: dict[str, Any]) -> None:
    agent = make(algorithm, parameters, pendulums())
    rates = []
    for task in ("first", "second"):
        agent.begin_task(task, pendulums(), budget=320)
        for _ in range(5):
            agent.learn(64)
            rates.append(agent.statistics()["train/learning_rate"])
        agent.end_task(task)
    assert rates[:5] == rates[5:] == pytest.approx([8e-4, 6e-4, 4e-4, 2e-4, 0])


def test_a_reset_replay_buffer_is_empty_and_warmed_up_again() -> None:
    agent = make("SAC", SAC, pendulums())
    for task in ("first", "second"):
        agent.begin_task(task, pendulums(), budget=64)
        before = weights(agent)
        agent.learn(24)
        assert same(before, weights(agent)), "nothing is learnt during the warm-up"
        assert agent._model.replay_buffer.size() == 6  # type: ignore[attr-defined]
        agent.learn(40)
        assert not same(before, weights(agent))


def test_a_kept_replay_buffer_is_learnt_from_at_once() -> None:
    agent = make("SAC", SAC | {"replay_buffer": "keep"}, pendulums())
    agent.begin_task("first", pendulums(), budget=64)
    agent.learn(64)
    agent.begin_task("second", pendulums(), budget=64)
    before = weights(agent)
    agent.learn(4)
    assert not same(before, weights(agent))
    buffer = agent._model.replay_buffer  # type: ignore[attr-defined]
    assert buffer.size() == 17
    assert buffer.timeouts[15].all(), "what follows the last transition of a task is another task's"


@pytest.mark.parametrize("choice", ["keep", "reset"])
@pytest.mark.parametrize("use_sde", [False, True])
def test_the_spread_of_the_actions_is_kept_or_reset_at_a_switch_and_nothing_else_is(use_sde: bool, choice: str) -> None:
    agent = make("PPO", PPO | {"exploration": choice, "use_sde": use_sde}, pendulums())
    agent.begin_task("first", pendulums(), budget=640)
    untrained = agent._model.policy.log_std.clone()  # type: ignore[operator]
    agent.learn(640)
    learnt = agent._model.policy.state_dict()["log_std"].clone()
    others = [value.clone() for name, value in agent._model.policy.state_dict().items() if name != "log_std"]
    agent.begin_task("second", pendulums(), budget=640)
    after = agent._model.policy.state_dict()
    assert not torch.equal(untrained, learnt)
    assert torch.equal(after["log_std"], untrained if choice == "reset" else learnt)
    assert same(others, [value for name, value in after.items() if name != "log_std"])


def test_each_task_but_the_first_begins_with_the_spreads_that_are_given() -> None:
    agent = make("PPO", PPO | {"exploration": [0.7]}, pendulums())
    policy = agent._model.policy
    untrained = policy.state_dict()["log_std"].clone()
    agent.begin_task("first", pendulums(), budget=640)
    assert torch.equal(policy.state_dict()["log_std"], untrained)
    agent.learn(640)
    agent.begin_task("second", pendulums(), budget=640)
    assert policy.state_dict()["log_std"].exp().tolist() == pytest.approx([0.7])


def test_there_are_as_many_spreads_as_action_components() -> None:
    with pytest.raises(
        RequestError, match=r"exploration: \[0.7, 0.7\]; must be one number an action component .* are 1$"
    ):
        make("PPO", PPO | {"exploration": [0.7, 0.7]}, pendulums())


@pytest.mark.parametrize("algorithm", ["PPO", "A2C"])
def test_the_action_layer_alone_shrinks_at_a_switch_and_not_before_the_first_task(algorithm: str) -> None:
    agent = make(algorithm, {"n_steps": 16, "shrink": 0.5}, pendulums())
    untrained = agent.act(OBSERVATIONS)
    agent.begin_task("first", pendulums(), budget=640)
    assert np.array_equal(agent.act(OBSERVATIONS), untrained)
    agent.learn(640)
    before = {name: value.clone() for name, value in agent._model.policy.state_dict().items()}
    agent.begin_task("second", pendulums(), budget=640)
    for name, value in agent._model.policy.state_dict().items():
        assert torch.equal(value, before[name] * (0.5 if name.startswith("action_net") else 1)), name


def test_acting_is_deterministic_and_leaves_no_trace() -> None:
    agent = make("SAC", SAC, pendulums())
    before = generators_state()
    first, second = agent.act(OBSERVATIONS), agent.act(OBSERVATIONS)
    assert np.array_equal(first, second)
    assert generators_state() == before
    assert first.shape == (5, 1) and np.abs(first).max() <= 2


@pytest.mark.parametrize(("algorithm", "parameters"), AGENTS, ids=NAMES)
def test_a_policy_loaded_into_another_agent_acts_the_same(
    algorithm: str, parameters: dict[str, Any], tmp_path: Path
) -> None:
    agent, other = make(algorithm, parameters, pendulums()), make(algorithm, parameters, pendulums(), seed=8)
    assert not np.array_equal(agent.act(OBSERVATIONS), other.act(OBSERVATIONS))
    agent.save_policy(tmp_path)
    other.load_policy(tmp_path)
    assert np.array_equal(agent.act(OBSERVATIONS), other.act(OBSERVATIONS))
    assert np.array_equal(agent.features(OBSERVATIONS), other.features(OBSERVATIONS))
    assert agent.features(OBSERVATIONS).ndim == 2
    assert agent.value(OBSERVATIONS).shape == (5,)
    described = json.loads((tmp_path / "policy.json").read_text())
    assert described["algorithm"] == algorithm and described["observation_shape"] == [3]


def test_the_same_seed_makes_the_same_agent_and_another_another() -> None:
    agents = [make("PPO", PPO, pendulums(), seed) for seed in (2**40, 2**40, 2**40 + 1)]
    assert same(weights(agents[0]), weights(agents[1]))
    assert not same(weights(agents[0]), weights(agents[2]))


def test_learning_that_leaves_the_finite_numbers_is_told() -> None:
    agent = make("PPO", PPO | {"learning_rate": 1e30}, pendulums())
    agent.begin_task("only", pendulums(), budget=640)
    with pytest.raises(Diverged):
        agent.learn(640)

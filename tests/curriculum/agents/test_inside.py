from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from etude.curriculum.agents.sb3 import SB3Agent

ON = {"n_steps": 8, "gamma": 0.9}
OFF = {"learning_starts": 24, "batch_size": 16, "buffer_size": 500, "policy_kwargs": {"net_arch": [16, 8]}}
AGENTS: list[tuple[str, dict[str, Any]]] = [
    ("PPO", ON | {"batch_size": 16, "policy_kwargs": {"net_arch": [16, 8]}}),
    ("A2C", ON | {"policy_kwargs": {"net_arch": [16, 8]}}),
    ("TRPO", ON | {"batch_size": 16, "policy_kwargs": {"net_arch": [16, 8]}}),
    ("SAC", OFF),
    ("TD3", OFF),
    ("TQC", OFF),
    ("CrossQ", OFF),
]
NAMES = [name for name, _ in AGENTS]
OBSERVATIONS = np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3)

every_algorithm = pytest.mark.parametrize(("algorithm", "parameters"), AGENTS, ids=NAMES)


class Bandit(gym.Env[NDArray[np.float32], NDArray[np.float32]]):
    """Episodes of one step, whose reward is the action times `slope`."""

    observation_space = gym.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, slope: float = 1.0) -> None:
        self.slope = slope

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return OBSERVATIONS[0], {}

    def step(self, action: NDArray[np.float32]) -> Any:
        return OBSERVATIONS[0], self.slope * float(action[0]), True, False, {}


def pendulums() -> VectorEnv[Any, Any, Any]:
    envs = gym.make_vec("Pendulum-v1", num_envs=4, vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP})
    envs.reset(seed=7)
    return envs


def bandits(slope: float) -> VectorEnv[Any, Any, Any]:
    return gym.vector.SyncVectorEnv([lambda: Bandit(slope)] * 4, autoreset_mode=AutoresetMode.SAME_STEP)


def make(algorithm: str, parameters: dict[str, Any], envs: VectorEnv[Any, Any, Any], seed: int = 3) -> SB3Agent:
    return SB3Agent(algorithm, envs.single_observation_space, envs.single_action_space, 4, parameters, seed)


@every_algorithm
def test_hidden_layers_are_seen_in_order_and_the_last_is_the_features(
    algorithm: str, parameters: dict[str, Any]
) -> None:
    agent = make(algorithm, parameters, pendulums())
    layers = agent.activations(OBSERVATIONS)
    assert {name: layer.shape for name, layer in layers.items()} == {"hidden 1": (5, 16), "hidden 2": (5, 8)}
    assert np.array_equal(agent.features(OBSERVATIONS), layers["hidden 2"])
    low = -1 if algorithm in ("PPO", "A2C", "TRPO") else 0  # tanh, else ReLU
    assert all(low <= layer.min() < layer.max() for layer in layers.values())


def test_actions_are_read_off_the_features() -> None:
    agent = make("PPO", AGENTS[0][1], pendulums())
    head = agent.weights()
    means = agent.features(OBSERVATIONS) @ head["action_net.weight"].T + head["action_net.bias"]
    assert agent.act(OBSERVATIONS) == pytest.approx(means, abs=1e-6)


def test_a_network_without_hidden_layers_has_its_input_as_features() -> None:
    agent = make("PPO", ON | {"batch_size": 16, "policy_kwargs": {"net_arch": []}}, pendulums())
    assert agent.features(OBSERVATIONS) == pytest.approx(OBSERVATIONS)
    assert agent.activations(OBSERVATIONS) == {}


@every_algorithm
def test_weights_are_those_that_learning_moves(algorithm: str, parameters: dict[str, Any]) -> None:
    agent = make(algorithm, parameters, pendulums())
    before = agent.weights()
    assert before and not any("target" in name for name in before)
    agent.begin_task("only", pendulums(), budget=64)
    agent.learn(64)
    moved = {name for name, values in agent.weights().items() if not np.array_equal(values, before[name])}
    assert moved == set(before) - ({"log_std"} if algorithm == "TRPO" and "log_std" not in moved else set())
    assert agent.discount() == parameters.get("gamma", 0.99)


@every_algorithm
def test_between_two_policies_lie_the_means_of_their_weights(
    algorithm: str, parameters: dict[str, Any], tmp_path: Path
) -> None:
    ends = [make(algorithm, parameters, pendulums(), seed) for seed in (3, 4)]
    folders = [tmp_path / "first", tmp_path / "second"]
    for agent, folder in zip(ends, folders, strict=True):
        folder.mkdir()
        agent.save_policy(folder)
    between = make(algorithm, parameters, pendulums(), 5)
    for share in (0.0, 0.25, 1.0):
        between.load_between(*folders, share)
        for name, values in between.weights().items():
            first, second = (agent.weights()[name] for agent in ends)
            assert values == pytest.approx((1 - share) * first + share * second, abs=1e-6), name
        if share in (0, 1):
            assert np.array_equal(between.act(OBSERVATIONS), ends[int(share)].act(OBSERVATIONS))


@every_algorithm
def test_the_policys_gradient_is_the_same_for_the_same_draws_and_changes_nothing(
    algorithm: str, parameters: dict[str, Any]
) -> None:
    agents = [make(algorithm, parameters, pendulums()) for _ in range(2)]
    before = agents[0].weights()
    first = agents[0].policy_gradient(pendulums(), 40)
    torch.manual_seed(0)
    agents[1] = make(algorithm, parameters, pendulums())
    second = agents[1].policy_gradient(pendulums(), 40)
    assert first.ndim == 1 and np.isfinite(first).all() and np.abs(first).max() > 0
    assert np.array_equal(first, second)
    assert all(np.array_equal(values, before[name]) for name, values in agents[0].weights().items())


def test_tasks_that_pay_for_opposite_actions_pull_in_opposite_directions() -> None:
    parameters = ON | {"batch_size": 16}
    up, down = (make("PPO", parameters, bandits(1)).policy_gradient(bandits(slope), 256) for slope in (1, -1))
    assert up @ down / (np.linalg.norm(up) * np.linalg.norm(down)) == pytest.approx(-1, abs=1e-3)


def test_following_the_gradient_earns_more() -> None:
    agent = make("PPO", ON | {"batch_size": 16}, bandits(1))
    before = agent.act(OBSERVATIONS[:1])[0, 0]
    gradient = agent.policy_gradient(bandits(1), 256)
    parameters = [p for name, p in agent._model.policy.named_parameters() if "value" not in name and "vf" not in name]
    assert sum(p.numel() for p in parameters) == len(gradient)
    for parameter, step in zip(
        parameters, np.split(gradient, np.cumsum([p.numel() for p in parameters])), strict=False
    ):
        parameter.data += 0.01 * torch.from_numpy(step.reshape(parameter.shape))
    assert agent.act(OBSERVATIONS[:1])[0, 0] > before


def test_off_policy_the_gradient_is_the_slope_of_the_critics_value() -> None:
    """In the states of the first step, by moving the bias of the actions a little up and down."""
    agent = make("TD3", OFF, pendulums())
    envs = pendulums()
    gradient = agent.policy_gradient(pendulums(), 4)
    starts = envs.reset()[0]
    bias = dict(agent._model.policy.named_parameters())["actor.mu.4.bias"]
    values = []
    for step in (1e-2, -1e-2):
        bias.data += step
        values.append(agent.value(starts).mean())
        bias.data -= step
    assert gradient[-1] == pytest.approx((values[0] - values[1]) / 2e-2, rel=0.05)


def test_a_loaded_policy_learns_on_as_at_the_switch_to_another_task(tmp_path: Path) -> None:
    """The spread of the actions begins anew, if that is asked for; random actions come first off-policy."""
    parameters = ON | {"batch_size": 16, "exploration": "reset"}
    agent, other = (make("PPO", parameters, pendulums()) for _ in range(2))
    agent._model.policy.log_std.data.fill_(-2)  # type: ignore[operator]
    agent.save_policy(tmp_path)
    other.load_policy(tmp_path)
    other.begin_task("old", pendulums(), budget=64)
    assert other.weights()["log_std"] == pytest.approx(0)
    kept = make("SAC", OFF | {"replay_buffer": "keep"}, pendulums())
    make("SAC", OFF, pendulums(), 4).save_policy(tmp_path)
    kept.load_policy(tmp_path)
    kept.begin_task("old", pendulums(), budget=64)
    assert kept._model.learning_starts == 24  # type: ignore[attr-defined]

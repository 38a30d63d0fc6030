from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, VectorEnv

from etude.curriculum.agents.sb3 import SB3Agent
from etude.curriculum.methods import Method, attach, get_method
from etude.curriculum.methods.clone import Clone
from etude.envs.errors import RequestError

PPO: dict[str, Any] = {"n_steps": 16, "batch_size": 32, "n_epochs": 4, "learning_rate": 3e-3}
SAC: dict[str, Any] = {"learning_starts": 16, "batch_size": 16, "buffer_size": 200, "policy_kwargs": {"net_arch": [16]}}


class Linear:
    """An agent of one weight, whose action is the weight times the observation."""

    def __init__(self) -> None:
        self.weight = torch.nn.Parameter(torch.tensor([[2.0]]))
        self.optimiser = torch.optim.SGD([self.weight], lr=1.0)

    def optimisers(self) -> dict[str, torch.optim.Optimizer]:
        return {"policy": self.optimiser}

    def latest_observations(self, count: int) -> Any:
        return np.array([[1.0], [3.0]], np.float32)

    def predict(self, observations: torch.Tensor) -> torch.Tensor:
        return observations @ self.weight

    def act(self, observations: Any) -> Any:
        return observations * 0.5


def pendulums() -> VectorEnv[Any, Any, Any]:
    envs = gym.make_vec("Pendulum-v1", num_envs=4, vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP})
    envs.reset(seed=7)
    return envs


def trained(algorithm: str, parameters: dict[str, Any], method: Method) -> tuple[SB3Agent, Any]:
    """An agent after two tasks, and how far its actions have moved since the end of the first."""
    envs = pendulums()
    agent = SB3Agent(algorithm, envs.single_observation_space, envs.single_action_space, 4, parameters, 3)
    attach(method, agent)
    agent.begin_task("first", envs, 256)
    method.on_task_start("first", agent)
    agent.learn(256)
    method.on_task_end("first", agent)
    observations = agent.latest_observations(64)
    before = agent.act(observations)
    agent.begin_task("second", pendulums(), 512)
    method.on_task_start("second", agent)
    agent.learn(512)
    return agent, np.abs(agent.act(observations) - before).mean()


def test_the_gradient_of_the_mean_squared_distance_is_added_to_the_optimisers_own() -> None:
    agent: Any = Linear()
    method = Clone()
    attach(method, agent)
    method.on_task_start("first", agent)
    agent.weight.grad = torch.tensor([[1.0]])
    agent.optimiser.step()
    assert agent.weight.item() == 1, "nothing is kept during the first task"
    method.on_task_end("first", agent)
    agent.weight.grad = torch.tensor([[1.0]])
    agent.optimiser.step()
    # distance 0.5 x, of x = 1 and 3 equally often; the mean of 2 * 0.5 x * x is 5
    assert agent.weight.item() == pytest.approx(1 - 1 - method.strength * 5)


def test_the_batches_go_round_all_that_is_kept() -> None:
    agent: Any = Linear()
    method = Clone()
    method.batch, method.strength = 1, 1.0
    method.on_task_start("first", agent)
    method.on_task_end("first", agent)
    gradients = []
    for _ in range(4):
        agent.weight.grad = None
        method.adjust_gradients("policy", agent.optimiser)
        gradients.append(agent.weight.grad.item())
    # 2 * (2 - 0.5) x * x, of x = 1 and 3
    assert gradients[:2] == gradients[2:] and sorted(gradients[:2]) == [3, 27]


@pytest.mark.parametrize(("algorithm", "parameters", "kept"), [("PPO", PPO, 64), ("SAC", SAC, 200)])
def test_all_that_is_there_is_the_latest_where_more_is_asked_for(
    algorithm: str, parameters: dict[str, Any], kept: int
) -> None:
    envs = pendulums()
    agent = SB3Agent(algorithm, envs.single_observation_space, envs.single_action_space, 4, parameters, 3)
    agent.begin_task("first", envs, 256)
    agent.learn(256)
    everything = agent.latest_observations(1000)
    assert everything.shape == (kept, 3) and len(np.unique(everything, axis=0)) > kept * 0.9
    assert np.array_equal(agent.latest_observations(6), everything[-6:])


@pytest.mark.parametrize(("algorithm", "parameters"), [("PPO", PPO), ("SAC", SAC)])
def test_a_cloned_policy_moves_less_in_the_task_before(algorithm: str, parameters: dict[str, Any]) -> None:
    held = Clone()
    held.strength = 30.0
    _, moved = trained(algorithm, parameters, get_method("finetune")())
    _, moved_held = trained(algorithm, parameters, held)
    assert moved_held < moved / 2


def test_what_is_kept_survives_a_save(tmp_path: Path) -> None:
    method, other = Clone(), Clone()
    agent, _ = trained("PPO", PPO, method)
    method.save(tmp_path)
    other.load(tmp_path, agent)
    optimiser = agent.optimisers()["policy"]
    gradients = []
    for each in (method, other):
        optimiser.zero_grad()
        each.adjust_gradients("policy", optimiser)
        gradients.append(
            [p.grad.clone() for group in optimiser.param_groups for p in group["params"] if p.grad is not None]
        )
    assert gradients[0]
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


def test_an_agent_that_does_not_show_what_it_learns_from_is_refused() -> None:
    agent: Any = object()
    with pytest.raises(RequestError, match=r"clone needs latest_observations\(\) and predict\(\); object has not both"):
        Clone().on_task_start("first", agent)

"""Behavioural cloning of what each earlier task's policy did (after Wołczyk et al. 2022, who call it ClonEx)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from etude.curriculum.agents.protocol import Agent
from etude.curriculum.agents.tensors import load_tensors, save_tensors
from etude.curriculum.methods.method import Method, register_method
from etude.envs.errors import RequestError

if TYPE_CHECKING:
    from torch.optim import Optimizer

POLICIES = ("policy", "actor")


@register_method("clone")
class Clone(Method):
    """Where an earlier task was left, the policy is held to what it did there.

    At a task's end the latest observations that were learnt from are kept, with the actions that the policy takes in
    them. In every later step of the policy's optimiser the mean squared distance to those actions, of a batch that
    goes round all that is kept, is added to the loss.

    Attributes:
        strength: what that distance is multiplied by.
        samples: observations kept of each task.
        batch: of them that enter each step.
    """

    strength = 0.3
    samples = 2048
    batch = 256

    def __init__(self) -> None:
        """Nothing is kept yet."""
        self._agent: Any = None
        self._observations = torch.empty(0)
        self._actions = torch.empty(0)
        self._next = 0

    def on_task_start(self, task: str, agent: Agent) -> None:
        """Know whose policy it is.

        Raises:
            RequestError: the agent does not show what it learns from.
        """
        if not hasattr(agent, "latest_observations") or not hasattr(agent, "predict"):
            raise RequestError(
                f"method: clone needs latest_observations() and predict(); {type(agent).__name__} has not both"
            )
        self._agent = agent

    def on_task_end(self, task: str, agent: Agent) -> None:
        """Keep what the policy does in the task that ends, and mix it with what is kept already."""
        latest = self._agent.latest_observations(self.samples)
        observations, actions = torch.as_tensor(latest), torch.as_tensor(agent.act(latest))
        if len(self._observations):
            observations = torch.cat([self._observations, observations])
            actions = torch.cat([self._actions, actions])
        order = torch.from_numpy(np.random.default_rng(len(observations)).permutation(len(observations)))
        self._observations, self._actions, self._next = observations[order], actions[order], 0

    def adjust_gradients(self, name: str, optimiser: Optimizer) -> None:
        """Add the gradient of the distance to the policy's own."""
        if name not in POLICIES or not len(self._observations):
            return
        some = torch.arange(self._next, self._next + self.batch) % len(self._observations)
        self._next = (self._next + self.batch) % len(self._observations)
        distance = self._agent.predict(self._observations[some]) - self._actions[some]
        parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
        loss = self.strength * distance.square().mean()
        for parameter, gradient in zip(
            parameters, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True
        ):
            if gradient is not None:
                parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient

    def save(self, folder: Path) -> None:
        """Write what is kept, and where the next batch begins."""
        kept = {"observations": self._observations, "actions": self._actions, "next": self._next}
        save_tensors(kept, folder / "clone.pt")

    def load(self, folder: Path, agent: Agent) -> None:
        """Read it back."""
        self.on_task_start("", agent)
        kept = load_tensors(folder / "clone.pt", torch.device("cpu"))
        self._observations, self._actions, self._next = kept["observations"], kept["actions"], kept["next"]

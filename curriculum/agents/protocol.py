"""What an agent is, and how one is made from a suite's `agent`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from gymnasium.spaces import Space
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from etude.curriculum.agents.names import resolve_object
from etude.envs.errors import RunError

if TYPE_CHECKING:
    from etude.curriculum.suite import AgentConfig


class Diverged(RunError):
    """Learning left the finite numbers: the run ends here, and is not tried again."""


class Agent(Protocol):
    """What the runner asks of an agent.

    A class of the user's own, named in a suite as `module:Class`, is built as
    `Class(observation_space=..., action_space=..., environments=..., parameters=..., seed=...)`: the spaces of one
    simulation, the number of simulations it will act in at once, the mapping under `agent.parameters`, and the seed
    that all its randomness must come from. Beyond the methods below it may have

    - `rollout_size(environments, parameters) -> int`, a static method: the steps between its updates, in total over
      the simulations; budgets and checkpoints are multiples of it. Without it, one step of every simulation.
      A parameter it does not take is refused here, with a ValueError;
    - `restart()`, called after `load` where the environments could not be restored: they are about to begin other
      episodes, seeded; the agent resets them once, without a seed, and forgets the observations it had;
    - `statistics() -> dict[str, float]`: of its last update, for `training.jsonl`;
    - `optimisers() -> dict[str, torch.optim.Optimizer]`: what a method's hooks hang on;
    - `buffer_bytes() -> int`, the size of the replay it keeps, and `warm_up: int`, the first steps of the present task
      in which it does not learn yet: for the metrics of cost;
    - what metrics of stored policies read, each of what `load_policy` loaded: `features(observations) -> (N, F)`, the
      last hidden layer; `activations(observations) -> {layer: (N, H)}`, all hidden layers after their activation
      functions; `value(observations) -> (N,)` and `discount() -> float`; `weights() -> {name: array}`;
      `load_between(first, second, share)`, to act with the weights on the straight line between two stored policies;
      `policy_gradient(envs, steps) -> (P,)`, where at least `steps` steps in a task's environments would move it.
    """

    def begin_task(self, task: str, envs: VectorEnv[Any, Any, Any], budget: int) -> None:
        """Start to learn a task; schedules begin anew, on the task's own clock.

        Args:
            task: its id; `joint` where all of the suite's are learnt at once.
            envs: SAME_STEP and seeded; the agent resets them once, without a seed.
            budget: environment steps that the task has in all.
        """

    def learn(self, steps: int) -> None:
        """Learn for exactly so many more environment steps, a multiple of the rollout size.

        What is learnt must not depend on how a task's budget is cut into calls.
        """

    def end_task(self, task: str) -> None:
        """The task's budget is used up."""

    def act(self, observations: NDArray[Any]) -> NDArray[Any]:
        """The actions, (N, A), for observations, (N, O): deterministic, and without a trace in the agent."""

    def save(self, folder: Path) -> None:
        """Write to an empty folder everything that learning on with the same bits needs."""

    def load(self, folder: Path, task: str, envs: VectorEnv[Any, Any, Any], budget: int) -> None:
        """Stand where `save` was called. It takes the place of `begin_task`; `envs` stand there too: no reset."""

    def save_policy(self, folder: Path) -> None:
        """Write to an empty folder what acting needs."""

    def load_policy(self, folder: Path) -> None:
        """Act as the agent did whose `save_policy` wrote the folder."""


def make_agent(config: AgentConfig, observation_space: Space[Any], action_space: Space[Any], seed: int) -> Agent:
    """The untrained agent that a suite's `agent` describes.

    Args:
        config: algorithm, environments and parameters.
        observation_space: of one simulation, with the task's one-hot where the suite has it.
        action_space: of one simulation.
        seed: of the agent's own randomness.

    Raises:
        RequestError: there is no such algorithm, or it does not take these parameters.
    """
    if ":" in config.algorithm:
        own: Agent = resolve_object(config.algorithm, "agent.algorithm")(
            observation_space=observation_space,
            action_space=action_space,
            environments=config.environments,
            parameters=config.parameters,
            seed=seed,
        )
        return own
    from etude.curriculum.agents.sb3 import SB3Agent

    return SB3Agent(config.algorithm, observation_space, action_space, config.environments, config.parameters, seed)


def act_finitely(agent: Agent, observations: NDArray[Any]) -> NDArray[Any]:
    """The agent's actions.

    Raises:
        Diverged: one is not a finite number.
    """
    actions = agent.act(observations)
    if not np.isfinite(actions).all():
        raise Diverged("the policy's actions are not finite numbers")
    return actions


Parameters = Mapping[str, Any]

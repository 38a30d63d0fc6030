"""Whether a suite's agent can be made, before anything is."""

from __future__ import annotations

from inspect import isclass
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.spaces import Box

from etude.curriculum.agents.names import resolve_object
from etude.curriculum.agents.protocol import Agent
from etude.envs.errors import RequestError

if TYPE_CHECKING:
    from etude.curriculum.suite import AgentConfig

_METHODS = [name for name in vars(Agent) if not name.startswith("_")]


def rollout_size(config: AgentConfig) -> int:
    """The environment steps between an agent's updates, in total over its environments.

    Args:
        config: algorithm, environments and parameters. They are tried on a throwaway model of a small task.

    Raises:
        RequestError: there is no such algorithm, or it does not take these parameters.
    """
    own = find_own(config.algorithm)
    if own is not None:
        return _rollout_of_own(own, config)
    from etude.curriculum.agents.generators import untouched_generators
    from etude.curriculum.agents.recipe import read_recipe
    from etude.curriculum.agents.vecenv import Spaces

    recipe = read_recipe(config.algorithm, config.environments, config.parameters)
    # A model's memory grows with its environments, and what it refuses does not depend on whether it has 2 or more.
    envs = Spaces(Box(-1, 1, (4,), np.float32), Box(-1, 1, (2,), np.float32), min(config.environments, 2))
    with untouched_generators():
        recipe.build(envs, seed=0)
    return recipe.rollout


def _rollout_of_own(own: Any, config: AgentConfig) -> int:
    if not hasattr(own, "rollout_size"):
        return config.environments
    try:
        size = own.rollout_size(config.environments, config.parameters)
    except ValueError as error:
        raise RequestError(f"agent.parameters: {error}") from None
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise RequestError(f"agent.algorithm: {config.algorithm}: its rollout_size is {size!r}, not a number above 0")
    return size


def find_own(name: str) -> type | None:
    """The class of an agent of the user's own; None where the name is one of Stable-Baselines3.

    Raises:
        RequestError: there is none, or it is not an agent.
    """
    if ":" not in name:
        return None
    own = resolve_object(name, "agent.algorithm")
    lacking = [method for method in _METHODS if not callable(getattr(own, method, None))]
    if lacking:
        raise RequestError(f"agent.algorithm: {name} is not an agent: it has no {', '.join(lacking)}")
    if not isclass(own):
        raise RequestError(f"agent.algorithm: {name} is not a class that agents can be made of")
    return own

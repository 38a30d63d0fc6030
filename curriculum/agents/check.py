"""Whether a suite's agent can be made, before anything is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium.spaces import Box

from etude.curriculum.agents.names import resolve_object
from etude.envs.errors import RequestError

if TYPE_CHECKING:
    from etude.curriculum.suite import AgentConfig


def rollout_size(config: AgentConfig) -> int:
    """The environment steps between an agent's updates, in total over its environments.

    Args:
        config: algorithm, environments and parameters. They are tried on a throwaway model of a small task.

    Raises:
        RequestError: there is no such algorithm, or it does not take these parameters.
    """
    if ":" in config.algorithm:
        own = resolve_object(config.algorithm, "agent.algorithm")
        if not hasattr(own, "rollout_size"):
            return config.environments
        try:
            return int(own.rollout_size(config.environments, config.parameters))
        except ValueError as error:
            raise RequestError(f"agent.parameters: {error}") from None
    from etude.curriculum.agents.generators import untouched_generators
    from etude.curriculum.agents.recipe import read_recipe
    from etude.curriculum.agents.vecenv import Spaces

    recipe = read_recipe(config.algorithm, config.environments, config.parameters)
    with untouched_generators():
        recipe.build(Spaces(Box(-1, 1, (4,), np.float32), Box(-1, 1, (2,), np.float32), config.environments), seed=0)
    return recipe.rollout

"""Gymnasium's vector environments as Stable-Baselines3 wants them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Space
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from etude.curriculum.agents.protocol import Diverged

Indices = int | Iterable[int] | None


class SB3Envs(VecEnv):
    """A SAME_STEP vector environment as a Stable-Baselines3 one, at a cost that does not grow with its number."""

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        """Wrap `envs`.

        Raises:
            ValueError: they do not reset in the step that ends an episode.
        """
        if envs.metadata.get("autoreset_mode") != AutoresetMode.SAME_STEP:
            raise ValueError(
                f"the environments' autoreset mode is {envs.metadata.get('autoreset_mode')}, not SAME_STEP"
            )
        self.envs = envs
        self._actions: NDArray[Any] = np.zeros(0)
        self._quiet: list[dict[str, Any]] = [{}] * envs.num_envs
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> NDArray[Any]:
        """Start an episode in all of them, with the generators they have."""
        observations: NDArray[Any] = self.envs.reset()[0]
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take note of the actions.

        Raises:
            Diverged: one is not a finite number.
        """
        if not np.isfinite(actions).all():
            raise Diverged("the policy's actions are not finite numbers")
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step; where an episode ended, its last observation is under `terminal_observation`."""
        observations, rewards, terminations, truncations, infos = self.envs.step(self._actions)
        dones = terminations | truncations
        details = self._quiet
        if dones.any():
            details = list(self._quiet)
            for i in np.flatnonzero(dones):
                cut_short = bool(truncations[i] and not terminations[i])
                details[i] = {"terminal_observation": infos["final_obs"][i], "TimeLimit.truncated": cut_short}
        return observations, rewards.astype(np.float32), dones, details

    def close(self) -> None:
        """Leave the environments to who made them."""

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """One value, the same for all."""
        return [getattr(self.envs, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Refused: the simulations of a batch have no attributes of their own."""
        raise NotImplementedError(f"the simulations of a batch have no {attr_name} of their own")

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> list[Any]:
        """Refused, for the same reason."""
        raise NotImplementedError(f"the simulations of a batch have no {method_name} of their own")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """No simulation of a batch is wrapped by itself."""
        return [False] * len(self._rows(indices))

    def _rows(self, indices: Indices) -> Sequence[int]:
        return list(self._get_indices(indices))


class Spaces(VecEnv):
    """Spaces and a number of environments, before there are any: what a model is built from."""

    def __init__(self, observation_space: Space[Any], action_space: Space[Any], environments: int) -> None:
        """Stand for so many environments with these spaces."""
        super().__init__(environments, observation_space, action_space)

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Nothing: there is no environment yet."""
        return [None] * self.num_envs

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Indices = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Nothing to close."""

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("no task has begun")

    reset = step_async = step_wait = set_attr = env_method = _refuse

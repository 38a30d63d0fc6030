"""A batched environment of a user's own, watched: what goes wrong is told with the task, the episode and the step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper
from numpy.typing import NDArray

from etude.envs.errors import RunError, retold
from etude.envs.foreign import ForeignVectorEnv
from etude.envs.vector import TabletopVectorEnv

Envs = VectorEnv[Any, Any, Any]
Step = tuple[Any, NDArray[Any], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


def watched(env: Envs, task: str) -> Envs:
    """The environment, watched unless it is one of Étude's classes, which watch themselves."""
    return env if isinstance(env.unwrapped, TabletopVectorEnv | ForeignVectorEnv) else Watched(env, task)


class Watched(VectorWrapper[Any, Any, Any, Any, Any]):
    """Passes everything on, unless it is not finite, of the wrong shape or outside its space, or an error.

    Every failure is a RunError of one line that names the task, the seed with which the row was last reset, which of
    that seed's episodes it is, and the step.
    """

    def __init__(self, env: Envs, task: str) -> None:
        """Watch the environment of a task."""
        super().__init__(env)
        self._task = task
        self._mode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        self._seeds: list[int | None] = [None] * env.num_envs
        self._episodes, self._elapsed = np.zeros(env.num_envs, np.int64), np.zeros(env.num_envs, np.int64)
        self._over = np.zeros(env.num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start episodes."""
        begun: Any = (options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_))
        if seed is not None:
            seeds = list(range(seed, seed + self.num_envs)) if isinstance(seed, int) else seed
            for i in np.flatnonzero(begun).tolist():
                self._seeds[i], self._episodes[i] = seeds[i], 0
        self._begin(begun)
        with retold("reset", self._fault):
            observations, info = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        self._require_sound(observations)
        return observations, info

    def step(self, actions: Any) -> Step:
        """Step."""
        if self._mode == AutoresetMode.NEXT_STEP:
            self._elapsed[self._over] = -1
            self._episodes[self._over] += 1
        self._elapsed += 1
        with retold("step", self._fault):
            observations, rewards, terminated, truncated, info = self.env.step(actions)
        for what, values in {"reward": rewards, "terminated": terminated, "truncated": truncated}.items():
            if np.shape(values) != (self.num_envs,):
                raise self._fault(f"its {what} has shape {np.shape(values)}, must be ({self.num_envs},)")
        if not np.isfinite(rewards).all():
            i = int(np.flatnonzero(~np.isfinite(rewards))[0])
            raise self._fault(f"its reward is {rewards[i]} in row {i}, must be a finite number", i)
        self._over = np.array(terminated | truncated)
        self._require_sound(observations)
        if self._mode == AutoresetMode.SAME_STEP:
            self._begin(self._over)
        return observations, rewards, terminated, truncated, info

    def _begin(self, rows: NDArray[np.bool_]) -> None:
        self._episodes[rows] += 1
        self._elapsed[rows], self._over[rows] = 0, False

    def _require_sound(self, observations: Any) -> None:
        space = self.observation_space
        if not isinstance(space, Box):
            if not space.contains(observations):
                raise self._fault(f"its observation is not in {space}")
            return
        if np.shape(observations) != space.shape:
            raise self._fault(f"its observation has shape {np.shape(observations)}, must be {space.shape}")
        bad = ~np.isfinite(observations) | (observations < space.low) | (observations > space.high)
        if bad.any():
            place = tuple(int(i) for i in np.argwhere(bad)[0])
            within = f"{space.low[place]} to {space.high[place]}"
            told = f"{observations[place]} at {list(place[1:])} of row {place[0]}, must be finite and within {within}"
            raise self._fault(f"its observation is {told}", place[0])

    def _fault(self, what: str, i: int = 0) -> RunError:
        beside = f", and {self.num_envs - 1} beside it" if self.num_envs > 1 else ""
        whose = f"seed {self._seeds[i]}, episode {self._episodes[i]} of that seed"
        if self._seeds[i] is None:
            whose = "no seed given since the environment was made"
        return RunError(f"task {self._task}: {what} ({whose}, step {self._elapsed[i]}{beside})")

"""Any Gymnasium environment as a task: played in Gymnasium's own vector environment, checked at every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from etude.envs.errors import RequestError, RunError, in_words, retold
from etude.envs.registry import TaskSpec, file_of, register_task

Env = gymnasium.Env[Any, Any]
Privileged = Callable[[Any], Mapping[str, Any]]
Success = str | Callable[[Any], bool]
Step = tuple[Any, float, bool, bool, dict[str, Any]]


def register_environment(
    gymnasium_id: str,
    *,
    id: str,
    privileged: Privileged,
    success: Success = "success",
    horizon: int | None = None,
    kind: Literal["primitive", "composition"] = "primitive",
    parts: Sequence[str] = (),
    version: int = 0,
    description: str = "",
    starts: str = "",
    options: Mapping[str, Any] | None = None,
) -> TaskSpec:
    """Register a Gymnasium environment as a task; its oracle, and its own floor if it has one, are registered apart.

    Args:
        gymnasium_id: of the environment.
        id: of the task.
        privileged: what the oracle reads of one unwrapped environment: a number or array by each word.
        success: a key of the step's info, or a function of the unwrapped environment: whether it is solved now.
        horizon: steps after which an episode is cut; the environment's own limit if not given.
        kind: practised, or performed.
        parts: of a composition, its primitives' ids.
        version: raised whenever returns of before and after no longer compare.
        description: one line.
        starts: what varies from episode to episode, in words.
        options: further arguments of `gymnasium.make`.

    Raises:
        RequestError: there is no such environment, it has no limit of its own and none is given, or the id, a part or
            the horizon is wrong.
    """
    try:
        found = gymnasium.spec(gymnasium_id)
    except (gymnasium.error.Error, ImportError) as error:
        raise RequestError(f"task {id!r}: {' '.join(str(error).split())}") from error
    steps = found.max_episode_steps if horizon is None else horizon
    if steps is None:
        raise RequestError(f"task {id!r}: {gymnasium_id} has no limit of steps of its own; give a horizon")
    playing = partial(ForeignVectorEnv, id, gymnasium_id, steps, privileged, success, dict(options or {}))
    functions = [path for function in (privileged, success) for path in file_of(function)]
    spec = TaskSpec(
        id=id,
        horizon=steps,
        make_vector=playing,
        version=version,
        kind=kind,
        parts=tuple(parts),
        gymnasium_id=gymnasium_id,
        sources=tuple(dict.fromkeys([*functions, *_file_of(found.entry_point), Path(__file__)])),
        description=description or f"{gymnasium_id}, an environment of Gymnasium.",
        starts=starts or f"as {gymnasium_id} draws them",
    )
    return register_task(spec)


class ForeignVectorEnv(SyncVectorEnv[Any, Any]):
    """N environments of one Gymnasium id, stepped one after another; `info["success"]` says whether each is solved."""

    def __init__(
        self,
        task: str,
        gymnasium_id: str,
        horizon: int,
        privileged: Privileged,
        success: Success,
        options: Mapping[str, Any],
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        threads: int = 1,
        render_mode: str | None = None,
    ) -> None:
        """Make the environments; `threads` is of no use to them.

        Raises:
            RequestError: they cannot be made.
        """

        def make() -> Env:
            keywords = dict(options) | {"render_mode": render_mode}
            made = gymnasium.make(gymnasium_id, max_episode_steps=horizon, disable_env_checker=True, **keywords)
            return _Played(made, task, success)

        self._task, self._privileged = task, privileged
        try:
            super().__init__([make] * num_envs, autoreset_mode=AutoresetMode(autoreset_mode))
        except (Exception, SystemExit) as error:
            raise RequestError(f"task {task}: {gymnasium_id} cannot be made: {in_words(error)}") from error

    def privileged_state(self) -> dict[str, NDArray[Any]]:
        """What the oracle reads, each (N, ...), and `elapsed`, the steps so far."""
        rows: list[dict[str, NDArray[Any]]] = []
        first: dict[str, tuple[int, ...]] = {}
        for env in self.envs:
            assert isinstance(env, _Played)
            with retold("privileged", env.fault):
                given = self._privileged(env.unwrapped)
            if not isinstance(given, Mapping):
                raise env.fault(f"privileged gives {given!r:.60}, must be a dict of arrays")
            row = {word: np.asarray(value) for word, value in given.items()}
            shapes = {word: array.shape for word, array in row.items()}
            first = first if rows else shapes
            if shapes != first:
                raise env.fault(f"privileged gives arrays of shapes {shapes}, and of the first environment {first}")
            rows.append(row | {"elapsed": np.asarray(env.elapsed)})
        return {word: np.stack([row[word] for row in rows]) for word in rows[0]}


class _Played(gymnasium.Wrapper[Any, Any, Any, Any]):
    """One environment that tells of what goes wrong, and whether it is solved."""

    def __init__(self, env: Env, task: str, success: Success) -> None:
        super().__init__(env)
        self._task, self._success = task, success
        self._seed: int | None = None
        self._episode = 0
        self.elapsed = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self._seed, self._episode = seed, 0
        self._episode, self.elapsed = self._episode + 1, 0
        with retold("reset", self.fault):
            observation, _ = self.env.reset(seed=seed, options=options)
        return self._sound(observation), {"success": False}

    def step(self, action: Any) -> Step:
        self.elapsed += 1
        with retold("step", self.fault):
            observation, gained, terminated, truncated, info = self.env.step(action)
        reward = self._number(gained)
        observation, over = self._sound(observation), bool(terminated or truncated)
        return observation, reward, bool(terminated), bool(truncated), {"success": self._solved(info, over)}

    def _solved(self, info: Mapping[str, Any], over: bool) -> bool:
        if callable(self._success):
            with retold("success", self.fault):
                told = self._success(self.env.unwrapped)
            return self._flag("its success gives", told)
        if over and self._success not in info:
            raise self.fault(f"its info has no {self._success!r} to say whether it was solved; it has {sorted(info)}")
        return self._flag(f"its info has at {self._success!r}", info.get(self._success, False))

    def _flag(self, where: str, told: Any) -> bool:
        """Whether it is solved; some environments say so with the numbers 1 and 0."""
        if np.size(told) != 1 or np.asarray(told).item() not in (0, 1):
            raise self.fault(f"{where} {told!r:.60}, must be True or False, whether it is solved")
        return bool(np.asarray(told).item())

    def _number(self, reward: Any) -> float:
        try:
            number = float(reward) if np.shape(reward) == () else np.nan
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            raise self.fault(f"its reward is {reward!r:.60}, must be a finite number")
        return number

    def _sound(self, observation: Any) -> Any:
        space = self.observation_space
        if not isinstance(space, Box):
            if not space.contains(observation):
                raise self.fault(f"its observation {observation!r:.60} is not in {space}")
            return observation
        try:
            own: NDArray[Any] = np.array(observation, space.dtype)
        except (TypeError, ValueError) as error:
            raise self.fault(f"its observation {observation!r:.60} is no array of {space.dtype}") from error
        if own.shape != space.shape:
            raise self.fault(f"its observation has shape {own.shape}, must be {space.shape}")
        bad = ~np.isfinite(own) | (own < space.low) | (own > space.high)
        if bad.any():
            place = tuple(int(i) for i in np.argwhere(bad)[0])
            within = f"{space.low[place]} to {space.high[place]}"
            raise self.fault(f"its observation is {own[place]} at {list(place)}, must be finite and within {within}")
        return own

    def fault(self, what: str) -> RunError:
        """What went wrong, with the task's name, the episode and the step."""
        where = f"seed {self._seed}, episode {self._episode} of that seed, step {self.elapsed}"
        return RunError(f"task {self._task}: {what} ({where})")


def _file_of(entry_point: Any) -> list[Path]:
    """The file in which an environment is written."""
    if not isinstance(entry_point, str):
        return file_of(entry_point)
    spec = find_spec(entry_point.split(":")[0])
    return [Path(spec.origin)] if spec is not None and spec.origin is not None else []

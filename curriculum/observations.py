"""What the curriculum adds around a task's environments: which task it is, and a tally of episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from etude.envs.errors import RequestError, RunError

Envs = VectorEnv[Any, Any, Any]
Step = tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class TaskIdentity(VectorWrapper[Any, Any, Any, Any, Any]):
    """Observations that end in a one-hot of which task of the suite it is: (N, O) become (N, O + tasks)."""

    def __init__(self, envs: Envs, place: int, tasks: int) -> None:
        """Append the one-hot of task `place` of `tasks`.

        Raises:
            RequestError: the task's observations are not vectors.
        """
        super().__init__(envs)
        space = envs.single_observation_space
        if not isinstance(space, Box) or len(space.shape) != 1:
            raise RequestError(f"task_id: onehot needs observations that are vectors, not {space}; set hidden")
        self._codes = np.tile(np.eye(tasks, dtype=space.dtype)[place], (envs.num_envs, 1))
        low = np.concatenate([space.low, np.zeros(tasks, space.dtype)])
        high = np.concatenate([space.high, np.ones(tasks, space.dtype)])
        self.single_observation_space = Box(low, high, dtype=space.dtype.type)
        self.observation_space = batch_space(self.single_observation_space, envs.num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start episodes, as the wrapped environments do."""
        observations, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        return np.concatenate([observations, self._told()], axis=1), infos

    def step(self, actions: NDArray[Any]) -> Step:
        """Step; the last observations of ended episodes carry the one-hot too."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        if "final_obs" in infos:
            final, told = infos["final_obs"].copy(), self._told(final=True)
            for i in np.flatnonzero(infos["_final_obs"]):
                final[i] = np.concatenate([final[i], told[i]])
            infos = {**infos, "final_obs": final}
        return np.concatenate([observations, self._told()], axis=1), rewards, terminations, truncations, infos

    def _told(self, final: bool = False) -> NDArray[Any]:
        """What is appended to each observation, (N, tasks); `final`: to the last ones of the episodes just ended."""
        return self._codes


class PartIdentity(TaskIdentity):
    """The same, but of a composition the one-hot is that of the part whose turn it is."""

    def __init__(self, envs: Envs, places: Sequence[int], tasks: int) -> None:
        """Append the one-hots of the tasks at `places`, one for each of the composition's parts.

        Raises:
            RequestError: as `TaskIdentity`, or the environments do not say which part is asked for.
        """
        super().__init__(envs, places[0], tasks)
        if not hasattr(envs.unwrapped, "parts_asked"):
            raise RequestError("task_id: part needs a composition of tabletop tasks; set onehot or hidden")
        self._of_parts = np.eye(tasks, dtype=self._codes.dtype)[list(places)]

    def _told(self, final: bool = False) -> NDArray[Any]:
        told: NDArray[Any] = self._of_parts[self.unwrapped.parts_asked(final)]  # type: ignore[attr-defined]
        return told


class EpisodeTally(VectorWrapper[Any, Any, Any, Any, Any]):
    """Returns and successes of the episodes that end while an agent learns."""

    def __init__(self, envs: Envs) -> None:
        """Count from the next reset on."""
        super().__init__(envs)
        self._returns = np.zeros(envs.num_envs)
        self._ended: list[tuple[float, bool]] = []

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start episodes, and count anew."""
        self._returns[:] = 0
        self._ended = []
        observations, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        return observations, infos

    def step(self, actions: NDArray[Any]) -> Step:
        """Step, and count."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        self._returns += rewards
        ended = terminations | truncations
        if ended.any():
            successes = infos.get("final_info", {}).get("success", np.zeros(self.num_envs, np.bool_))
            self._ended += [(float(self._returns[i]), bool(successes[i])) for i in np.flatnonzero(ended)]
            self._returns[ended] = 0
        return observations, rewards, terminations, truncations, infos

    def take(self) -> dict[str, float]:
        """Number, mean return and success rate of the episodes that ended since the last call; no means of none."""
        ended, self._ended = self._ended, []
        if not ended:
            return {"episodes": 0}
        returns, successes = zip(*ended, strict=True)
        return {"episodes": len(ended), "return": float(np.mean(returns)), "success": float(np.mean(successes))}

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """The environments' state where they have one to give, and the tally: running episodes (N,), ended (K, 2).

        Raises:
            RunError: the state holds something else than plain arrays by name, which a save cannot hold.
        """
        own = dict(self.unwrapped.snapshot()) if self.exact else {}  # type: ignore[attr-defined]
        for name, value in own.items():
            if name in ("tally", "ended") or not isinstance(value, np.ndarray) or value.dtype.hasobject:
                right = "an array of numbers or text, not named tally or ended"
                told = f"snapshot()[{name!r}] is {_kind(value)}; must be {right}"
                raise RunError(f"{type(self.unwrapped).__name__}: {told}")
        return {**own, "tally": self._returns.copy(), "ended": np.array(self._ended, np.float64).reshape(-1, 2)}

    @property
    def exact(self) -> bool:
        """Whether they can go on from a save with the same bits."""
        return getattr(self.unwrapped, "exact", hasattr(self.unwrapped, "snapshot"))

    def restore(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """Stand where `snapshot` was called."""
        own = dict(snapshot)
        self._returns[:] = own.pop("tally")
        self._ended = [(float(total), bool(success)) for total, success in own.pop("ended")]
        self.unwrapped.restore(own)  # type: ignore[attr-defined]


def _kind(value: Any) -> str:
    return f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__

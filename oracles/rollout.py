"""Whole episodes of a policy, each from its own seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from etude.envs import stream_seed


@dataclass(frozen=True)
class Episodes:
    """What came of E episodes.

    Attributes:
        returns: (E,) undiscounted.
        successes: (E,) whether the last step was a success.
        lengths: (E,) steps.
    """

    returns: NDArray[np.float64]
    successes: NDArray[np.bool_]
    lengths: NDArray[np.int64]

    def record(self) -> dict[str, list[Any]]:
        """The same as plain lists, as references and evaluations store them."""
        return {
            "returns": self.returns.tolist(),
            "successes": self.successes.tolist(),
            "lengths": self.lengths.tolist(),
        }


def rollout(
    env: VectorEnv[Any, Any, Any], act: Callable[[NDArray[Any]], NDArray[Any]], seeds: Sequence[int]
) -> Episodes:
    """One episode of each simulation, reset with its own seed; what a row does after its first episode is left out.

    Args:
        env: as many simulations as seeds.
        act: observations (E, ...) to actions (E, ...).
        seeds: (E,) of the episodes.
    """
    returns, lengths = np.zeros(len(seeds)), np.zeros(len(seeds), np.int64)
    successes, running = np.zeros(len(seeds), np.bool_), np.ones(len(seeds), np.bool_)
    observations, _ = env.reset(seed=list(seeds))  # type: ignore[arg-type]  # Gymnasium annotates the integer alone
    while running.any():
        observations, rewards, terminated, truncated, info = env.step(act(observations))
        returns[running] += rewards[running]
        lengths[running] += 1
        ended = running & (terminated | truncated)
        if ended.any():
            last = info.get("final_info", info)
            successes[ended] = np.asarray(last.get("success", np.zeros(len(seeds))), np.bool_)[ended]
            running &= ~ended
    return Episodes(returns, successes, lengths)


def evaluation_seeds(task_id: str, episodes: int, set: str = "evaluation") -> list[int]:
    """The seeds of a task's evaluation episodes: the same for every run, whatever its seed and regime.

    Args:
        task_id: the task.
        episodes: E.
        set: which set of episodes; two sets share none.
    """
    return [stream_seed(set, task_id, episode) for episode in range(episodes)]

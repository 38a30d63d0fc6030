"""References: what the oracle and the failing policies return on the evaluation episodes."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from etude.envs import RequestError, get_task, stream_seed
from etude.oracles.oracle import get_oracle
from etude.oracles.rollout import Episodes, evaluation_seeds, rollout

Act = Callable[[NDArray[Any]], NDArray[Any]]


def measure_references(task_id: str, episodes: int, seeds: Sequence[int] | None = None) -> dict[str, Any]:
    """A task's entry of references.json: its fingerprint, and every episode of the oracle and of both failing policies.

    Args:
        task_id: the task.
        episodes: E.
        seeds: (E,) of the episodes; the task's evaluation episodes unless given.

    Raises:
        RequestError: the task has no oracle, or its oracle's actions do not fit the action space.
    """
    seeds = evaluation_seeds(task_id, episodes) if seeds is None else seeds
    env = get_task(task_id).make_vector(episodes)
    try:
        return {
            "fingerprint": fingerprint(task_id, episodes),
            "oracle": rollout(env, oracle_policy(task_id, env), seeds).record(),
            "random": rollout(env, random_policy(task_id, env, seeds), seeds).record(),
            "zero": rollout(env, zero_policy(env), seeds).record(),
        }
    finally:
        env.close()


def oracle_policy(task_id: str, env: VectorEnv[Any, Any, Any]) -> Act:
    """The task's oracle as a policy of fresh episodes of `env`.

    Raises:
        RequestError: on acting, where the oracle's actions do not fit the action space.
    """
    oracle = get_oracle(task_id)(env.num_envs)
    oracle.reset(np.arange(env.num_envs))
    shape = env.action_space.shape

    def act(observations: NDArray[Any]) -> NDArray[Any]:
        actions = np.asarray(oracle.act(env.unwrapped.privileged_state()))  # type: ignore[attr-defined]
        if actions.shape != shape or not np.isfinite(actions).all():
            what = f"shape {actions.shape}, not {shape}" if actions.shape != shape else "not all finite"
            raise RequestError(f"task {task_id}: the actions of its oracle, {type(oracle).__qualname__}, are {what}")
        return actions

    return act


def random_policy(task_id: str, env: VectorEnv[Any, Any, Any], seeds: Sequence[int]) -> Act:
    """Uniformly random actions, those of each episode a stream of its own."""
    spaces = [copy.deepcopy(env.single_action_space) for _ in seeds]
    for space, seed in zip(spaces, seeds, strict=True):
        space.seed(stream_seed("random actions", task_id, seed))
    return lambda observations: np.stack([space.sample() for space in spaces])


def zero_policy(env: VectorEnv[Any, Any, Any]) -> Act:
    """The zero action."""
    actions = np.zeros(env.action_space.shape or (), env.action_space.dtype)
    return lambda observations: actions


def fingerprint(task_id: str, episodes: int) -> dict[str, Any]:
    """What references depend on; those of another fingerprint are not compared.

    Args:
        task_id: the task.
        episodes: evaluation episodes.
    """
    spec = get_task(task_id)
    return {
        "task": task_id,
        "version": spec.version,
        "sources": _digest([*spec.sources, *get_oracle(task_id).sources()]),
        "mujoco": mujoco.__version__,
        "episodes": episodes,
    }


def _digest(paths: Sequence[Path]) -> str:
    hashed = hashlib.sha256()
    for content in sorted({hashlib.sha256(path.read_bytes()).digest() for path in paths}):
        hashed.update(content)
    return hashed.hexdigest()

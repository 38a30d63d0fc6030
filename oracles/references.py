"""References: what the oracle and the failing policies return on the evaluation episodes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

from etude.envs import RequestError, get_task, make_vector
from etude.oracles.blame import told_of
from etude.oracles.policies import oracle_policy, random_policy, scripted_policy, zero_policy
from etude.oracles.registry import get_floor, get_oracle
from etude.oracles.rollout import Episodes, evaluation_seeds, rollout
from etude.oracles.sources import PACKAGES, closure, digest

_FRAME = tuple(Path(__file__).with_name(f"{name}.py") for name in ("policies", "rollout"))


def measure_references(task_id: str, episodes: int, seeds: Sequence[int] | None = None) -> dict[str, Any]:
    """A task's entry of references.json: its fingerprint, and every episode of the oracle and of the failing policies.

    Args:
        task_id: the task.
        episodes: E.
        seeds: (E,) of the episodes; those of the task's evaluation episodes unless given.

    Raises:
        RequestError: E is not positive, the task has no oracle, or its oracle's actions do not fit the action space.
    """
    print_of_task = fingerprint(task_id, episodes)
    played = play_references(task_id, evaluation_seeds(task_id, episodes) if seeds is None else seeds)
    return {"fingerprint": print_of_task} | {name: result.record() for name, result in played.items()}


def play_references(task_id: str, seeds: Sequence[int]) -> dict[str, Episodes]:
    """The episodes of those seeds, (E,), as oracle, random actions, the zero action and the task's own floor play them.

    Raises:
        RequestError: there are no seeds, the task has no oracle, its actions do not fit the action space, or the task's
            reward or success has a wrong shape.
        RunError: task or oracle raised something.
    """
    if not seeds:
        raise RequestError(f"task {task_id!r}: 0 episodes; references need at least 1")
    with told_of(), closing(make_vector(task_id, len(seeds), threads=_threads(len(seeds)))) as env:
        played = {
            "oracle": rollout(env, oracle_policy(task_id, env), seeds),
            "random": rollout(env, random_policy(task_id, env, seeds), seeds),
            "zero": rollout(env, zero_policy(env), seeds),
        }
        own = get_floor(task_id)
        return played if own is None else played | {"floor": rollout(env, scripted_policy(own, env), seeds)}


def _threads(simulations: int) -> int:
    return min(simulations, os.cpu_count() or 1)


def fingerprint(task_id: str, episodes: int) -> dict[str, Any]:
    """What references depend on: under another fingerprint they are measured again, and scores do not compare.

    Args:
        task_id: the task.
        episodes: evaluation episodes.

    Returns:
        task id and version, SHA-256 of the sources that define task and oracle, MuJoCo's version, episodes.
    """
    spec, policies = get_task(task_id), [policy for policy in (get_oracle(task_id), get_floor(task_id)) if policy]
    own = {policy.__module__.partition(".")[0] for policy in policies} - {"etude"}
    written = [path for policy in policies for path in policy.sources()]
    sources = closure([*spec.sources, *written], (*PACKAGES, *sorted(own)))
    return {
        "task": task_id,
        "version": spec.version,
        "sources": digest({*sources, *_FRAME}),
        "mujoco": version("mujoco"),
        "episodes": episodes,
    }

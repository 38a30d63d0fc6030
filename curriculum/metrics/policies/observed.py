"""The fixed observations: what a task's oracle sees and does in the task's evaluation episodes."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from etude.curriculum.metrics.policies.stored import EPISODES, Arrays, Policies
from etude.oracles import evaluation_seeds

HELD_OUT = 2
"""Every so many-th episode is held out of what a probe learns from."""


def observed(policies: Policies, task: str) -> Arrays:
    """What the oracle sees and does in the first 20 evaluation episodes of a task, all steps of all episodes.

    Returns:
        `observations` (n, O), as the suite's agent sees them, `actions` (n, A), and `held_out` (n,) bool: every other
        episode, which a probe does not learn from.
    """
    depends = {"observed": observed_key(policies, task)}
    return policies.kept("observations", depends, lambda: _watch(policies, task), f"observations of {task}")


def observed_key(policies: Policies, task: str) -> dict[str, object]:
    """What a task's observations depend on."""
    episodes = min(policies.episodes, EPISODES)
    return {"episodes": episodes, "fingerprint": policies.fingerprint(task, episodes)}


def _watch(policies: Policies, task: str) -> Arrays:
    from etude.curriculum.evaluator import task_envs
    from etude.oracles.policies import oracle_policy

    seeds = evaluation_seeds(task, min(policies.episodes, EPISODES))
    rows = np.arange(len(seeds))
    seen, done, whose = [], [], []
    with closing(task_envs(policies.suite, task, len(seeds))) as envs:
        oracle = oracle_policy(task, envs)
        observations, _ = envs.reset(seed=seeds)
        running = np.ones(len(seeds), np.bool_)
        while running.any():
            actions = oracle(observations)
            seen.append(observations[running])
            done.append(actions[running])
            whose.append(rows[running])
            observations, _, terminated, truncated, _ = envs.step(actions)
            running &= ~(terminated | truncated)
    held_out = np.concatenate(whose) % HELD_OUT == HELD_OUT - 1
    return {"observations": np.concatenate(seen), "actions": np.concatenate(done), "held_out": held_out}



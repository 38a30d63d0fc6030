"""The fixed observations: what a task's oracle sees and does in the task's evaluation episodes."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np

from etude.curriculum.metrics.policies.stored import Arrays, Policies
from etude.oracles import evaluation_seeds

EPISODES = 128
"""Of the stream of evaluation episodes, whose first ones agents are evaluated on: with fewer, probes learn starts."""
EVERY = 4
"""Steps from one observation to the next: those in between are much like them."""


def observed(policies: Policies, task: str) -> Arrays:
    """What the oracle sees and does at every fourth step of 128 evaluation episodes of a task.

    Returns:
        `observations` (n, O), as the suite's agent sees them, `actions` (n, A), and `held_out` (n,) bool: every other
        episode, which a probe does not learn from.
    """
    depends = {"observed": observed_key(policies, task)}
    return policies.kept("observations", depends, lambda: _watch(policies, task), f"observations of {task}")


def observed_key(policies: Policies, task: str) -> dict[str, object]:
    """What a task's observations depend on."""
    return {"every": EVERY, "fingerprint": policies.fingerprint(task, EPISODES)}


def _watch(policies: Policies, task: str) -> Arrays:
    from etude.curriculum.evaluator import task_envs
    from etude.oracles.policies import oracle_policy

    seeds: Any = evaluation_seeds(task, EPISODES)
    rows = np.arange(len(seeds))
    seen, done, whose = [], [], []
    with closing(task_envs(policies.suite, task, len(seeds))) as envs:
        oracle = oracle_policy(task, envs)
        observations, _ = envs.reset(seed=seeds)
        running, step = np.ones(len(seeds), np.bool_), 0
        while running.any():
            actions = oracle(observations)
            if step % EVERY == 0:
                seen.append(observations[running])
                done.append(actions[running])
                whose.append(rows[running])
            observations, _, terminated, truncated, _ = envs.step(actions)
            running &= ~(terminated | truncated)
            step += 1
    return {
        "observations": np.concatenate(seen),
        "actions": np.concatenate(done),
        "held_out": np.concatenate(whose) % 2 == 1,
    }

"""How stored policies represent the fixed observations: their hidden layers, and what is measured of them."""

from __future__ import annotations

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.policies.observed import observed, observed_key
from etude.curriculum.metrics.policies.representation import (
    dormant_share,
    effective_rank,
    feature_movement,
    linear_cka,
    probe_r2,
    srank,
)
from etude.curriculum.metrics.policies.stored import Arrays, Policies


def represented(policies: Policies, seed: int) -> Arrays:
    """What the features of a run's policies say, policy by policy and task by task.

    Returns:
        `probe` (N+1, N), how well a linear probe reads each task's oracle's actions off policy k's features; `cka`
        (N, N+1, N+1), how alike the features of a task's observations are under two policies; `movement` (N, N+1), how
        far each task's features are from where its own training left them; `effective_rank` and `srank` (N+1,), of the
        features of all tasks' observations together.
    """
    return policies.kept("represented", _key(policies, seed), lambda: _represent(policies, seed), _told(seed))


def dormant(policies: Policies, seed: int) -> FloatArray:
    """(N+1,) the share of the policy network's hidden units that hardly answer to any of the observations."""

    def measure() -> Arrays:
        everything = np.concatenate([observed(policies, task)["observations"] for task in policies.tasks])
        agents = (policies.agent(seed, k, "activations") for k in range(len(policies.names)))
        return {"dormant": np.array([dormant_share(agent.activations(everything).values()) for agent in agents])}

    return policies.kept("dormant", _key(policies, seed), measure, _told(seed))["dormant"]


def read_features(policies: Policies, seed: int, k: int) -> list[FloatArray]:
    """Policy k's features, (n, F), of each task's fixed observations.

    Raises:
        Unmeasurable: the policy is not there, or the agent has no `features`.
    """
    agent = policies.agent(seed, k, "features")
    return [np.asarray(agent.features(observed(policies, task)["observations"])) for task in policies.tasks]


def _represent(policies: Policies, seed: int) -> Arrays:
    by_policy = [read_features(policies, seed, k) for k in range(len(policies.names))]
    by_task = list(zip(*by_policy, strict=True))
    seen = [observed(policies, task) for task in policies.tasks]
    together = [np.concatenate(own) for own in by_policy]
    return {
        "probe": np.array(
            [[probe_r2(x, s["actions"], s["held_out"]) for x, s in zip(own, seen, strict=True)] for own in by_policy]
        ),
        "cka": np.array([_alike(own) for own in by_task]),
        "movement": np.array([[feature_movement(own[j + 1], x) for x in own] for j, own in enumerate(by_task)]),
        "effective_rank": np.array([effective_rank(x) for x in together]),
        "srank": np.array([srank(x) for x in together]),
    }


def _alike(features: tuple[FloatArray, ...]) -> FloatArray:
    alike = np.empty((len(features), len(features)))
    for i, first in enumerate(features):
        for k, second in enumerate(features[: i + 1]):
            alike[i, k] = alike[k, i] = linear_cka(first, second)
    return alike


def _key(policies: Policies, seed: int) -> dict[str, object]:
    return {
        "policies": [policies.digest(seed, k) for k in range(len(policies.names))],
        "observed": [observed_key(policies, task) for task in policies.tasks],
    }


def _told(seed: int) -> str:
    return f"features of sequential-seed{seed}"

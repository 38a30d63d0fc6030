"""Features as points of the plane, for pictures of them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.policies.observed import observed_key
from etude.curriculum.metrics.policies.representation import principal_components
from etude.curriculum.metrics.policies.represented import read_features
from etude.curriculum.metrics.policies.stored import Arrays, Policies, Unmeasurable
from etude.envs.seeding import stream_seed

POINTS = 200
"""Observations of a task that are shown."""


def embedded(policies: Policies, seed: int, k: int, how: Literal["pca", "t-sne"] = "pca") -> FloatArray:
    """Where policy k's features of every task's observations lie in the plane, (N, 200, 2).

    Args:
        policies: of the study.
        seed: of the run.
        k: which policy: 0 the untrained one, k that after k tasks.
        how: `pca`, the two directions in which the features of all tasks together vary most, or `t-sne`, which keeps
            neighbours together and needs scikit-learn (van der Maaten and Hinton 2008).

    Raises:
        Unmeasurable: the policy is not there, the agent has no `features` or fewer than 2, or scikit-learn is missing.
    """
    depends = {
        "policy": policies.digest(seed, k),
        "observed": [observed_key(policies, task) for task in policies.tasks],
        "points": POINTS,
    }
    told = f"picture of the features of sequential-seed{seed}, {policies.names[k]}"
    return policies.kept(f"embedded-{how}", depends, lambda: _embed(policies, seed, k, how), told)["points"]


def _embed(policies: Policies, seed: int, k: int, how: str) -> Arrays:
    of_tasks = [x[np.linspace(0, len(x) - 1, POINTS).round().astype(int)] for x in read_features(policies, seed, k)]
    together = np.concatenate(of_tasks)
    if how == "pca":
        points = principal_components(together)
    else:
        try:
            from sklearn.manifold import TSNE
        except ImportError:
            raise Unmeasurable("t-sne needs scikit-learn; pip install 'etude[embedding]'") from None
        state = stream_seed("t-sne") % 2**32
        points = TSNE(init="pca", perplexity=30, random_state=state).fit_transform(together)
    return {"points": points.reshape(len(of_tasks), POINTS, 2).astype(np.float64)}

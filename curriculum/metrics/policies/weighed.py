"""The weights of stored policies: how large they are, how far they moved, and what lies between two of them."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.policies.played import fingerprints
from etude.curriculum.metrics.policies.stored import Arrays, Policies, Unmeasurable

POINTS = 11
"""Networks on the segment between two, its ends among them."""


def weighed(policies: Policies, seed: int) -> Arrays:
    """The weights of a run's policies, layer by layer.

    Returns:
        `layers` (L,) names; `norms` (N+1, L) the length of a layer's weights and biases as one vector; `drift` (N, L)
        how far that vector moved while a task trained, over its length before; nan where that was 0.
    """
    depends = {"policies": [policies.digest(seed, k) for k in range(len(policies.names))]}
    return policies.kept("weighed", depends, lambda: _weigh(policies, seed), f"weights of sequential-seed{seed}")


def segment(policies: Policies, seed: int, k: int) -> Arrays:
    """How networks on the straight line between policies k and k + 1 fare on the task that k was trained on last.

    Returns:
        `returns` and `successes` (P,), means over the task's evaluation episodes, at equal distances from policy k's
        weights to those of policy k + 1, both among them.
    """
    task = policies.tasks[k - 1]
    depends = {
        "policies": [policies.digest(seed, k), policies.digest(seed, k + 1)],
        "task": task,
        "episodes": fingerprints(policies),
        "points": POINTS,
    }
    told = f"weights of sequential-seed{seed} between {task} and {policies.tasks[k]}"
    return policies.kept("segment", depends, lambda: _walk(policies, seed, k), told)


def _weigh(policies: Policies, seed: int) -> Arrays:
    by_policy = [_layers(policies.agent(seed, k, "weights").weights()) for k in range(len(policies.names))]
    layers = list(by_policy[0])
    if any(list(own) != layers for own in by_policy):
        raise Unmeasurable("needs weights of the same names in all policies")
    norms = np.array([[np.linalg.norm(own[layer]) for layer in layers] for own in by_policy])
    moved = np.array(
        [
            [np.linalg.norm(after[layer] - before[layer]) for layer in layers]
            for before, after in zip(by_policy, by_policy[1:], strict=False)
        ]
    )
    return {"layers": np.array(layers), "norms": norms, "drift": moved / np.where(norms[:-1] > 0, norms[:-1], np.nan)}


def _layers(weights: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Weights and biases of each layer as one vector; a parameter of no layer stands for itself."""
    parts: dict[str, list[FloatArray]] = {}
    for name, values in weights.items():
        layer, _, kind = name.rpartition(".")
        parts.setdefault(layer if kind in ("weight", "bias") and layer else name, []).append(
            np.asarray(values, np.float64).reshape(-1)
        )
    return {layer: np.concatenate(values) for layer, values in parts.items()}


def _walk(policies: Policies, seed: int, k: int) -> Arrays:
    from etude.curriculum.evaluator import Evaluator

    agent = policies.agent(seed, k, "load_between")
    returns, successes = [], []
    with closing(Evaluator(policies.suite)) as evaluator:
        for share in np.linspace(0, 1, POINTS):
            agent.load_between(policies.folder(seed, k), policies.folder(seed, k + 1), float(share))
            (evaluation,) = evaluator.evaluate(agent, 0, [policies.tasks[k - 1]])
            returns.append(np.mean(evaluation.returns))
            successes.append(np.mean(evaluation.successes))
    return {"returns": np.array(returns), "successes": np.array(successes)}

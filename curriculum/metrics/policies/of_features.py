"""Metrics of what policies make of the fixed observations: what they still represent, and how richly."""

from __future__ import annotations

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray, mean_of_defined
from etude.curriculum.metrics.headline import GATE
from etude.curriculum.metrics.matrix import learnt, matrix
from etude.curriculum.metrics.policies.averages import after_every_task, of_old_tasks, over_seeds, task_by_task
from etude.curriculum.metrics.policies.represented import dormant, represented
from etude.curriculum.metrics.policies.stored import Policies, Unmeasurable
from etude.curriculum.metrics.registry import Undefined, Value, metric
from etude.curriculum.metrics.view import StudyView

DAVARI = "after Davari et al. 2022, Probing representation forgetting in supervised and unsupervised continual learning"
KORNBLITH = "Kornblith et al. 2019, Similarity of neural network representations revisited"
RAMASESH = "Ramasesh et al. 2021, Anatomy of catastrophic forgetting"
SOKAR = "Sokar et al. 2023, The dormant neuron phenomenon in deep reinforcement learning"
ROY = "Roy & Vetterli 2007, The effective rank"
KUMAR = "Kumar et al. 2021, Implicit under-parameterization inhibits data-efficient deep reinforcement learning"

NO_PROBE = "needs oracles whose actions vary"
NO_VARIATION = "the features do not vary"


@task_by_task("probe_matrix", direction="higher", source=DAVARI, empty=NO_PROBE)
def probes(policies: Policies, seed: int) -> FloatArray:
    """How well a linear probe reads each task's oracle's actions off each policy's features: held-out R²."""
    return np.asarray(represented(policies, seed)["probe"])


@after_every_task(direction="higher", source=DAVARI, empty=NO_PROBE)
def probe_acc(policies: Policies, seed: int) -> FloatArray:
    """How well a linear probe reads the oracles' actions off the features: held-out R², on average over the tasks."""
    return mean_of_defined(probes(policies, seed))


@after_every_task(direction="lower", source=DAVARI, tasks=2, empty=NO_PROBE)
def repr_forgetting(policies: Policies, seed: int) -> FloatArray:
    """How far the probe's R² of old tasks has fallen since the end of their own training, on average."""
    return of_old_tasks(_probe_drop(policies, seed))


@metric(direction="lower", source=DAVARI, tier="extended", tasks=2)
def head_forgetting(view: StudyView) -> Value | Undefined:
    """What of an old task's relative drop in score its representation does not account for, on average."""
    point = learnt(matrix(view.point))[:-1]
    counts = point >= GATE
    if not counts.any():
        return Undefined(f"no task had a {view.curves.of} of {GATE:g} at its own end")
    try:
        drops = view.over_seeds(np.stack([_probe_drop(view.policies, seed)[-1, :-1] for seed in view.seeds]))
    except Unmeasurable as error:
        return Undefined(str(error))
    scores = matrix(view)
    reached, last = learnt(scores)[..., :-1], scores[..., -1, :-1]
    beyond = ((reached - last) / np.where(reached > 0, reached, np.nan) - drops)[..., counts]
    if np.isnan(beyond).all():
        return Undefined(NO_PROBE)
    left_out = {
        task: f"{view.curves.of} {score:z.1f} at its own end, below {GATE:g}"
        for task, score, included in zip(view.tasks, point, counts, strict=False)
        if not included
    }
    return Value(mean_of_defined(beyond), left_out)


@metric(direction="none", source=KORNBLITH, tier="extended")
def cka_matrix(view: StudyView) -> Value | Undefined:
    """How alike the features of each task's observations are under every two policies: linear CKA."""
    names = view.policies.names
    return over_seeds(view, _alike, (view.tasks, names, names), NO_VARIATION)


@after_every_task(direction="none", source=KORNBLITH, tasks=2, empty=NO_VARIATION)
def cka_final(policies: Policies, seed: int) -> FloatArray:
    """How alike old tasks' features are to those at the end of their own training, on average: linear CKA."""
    alike = _alike(policies, seed)
    return of_old_tasks(np.stack([alike[j, j + 1] for j in range(len(alike))], axis=1))


@after_every_task(direction="none", source=RAMASESH, tasks=2, empty="all features are 0")
def feature_drift(policies: Policies, seed: int) -> FloatArray:
    """How far old tasks' features have moved since the end of their own training, over their length, on average."""
    return of_old_tasks(represented(policies, seed)["movement"].T)


@after_every_task(direction="lower", source=SOKAR, empty="the policy network has no hidden layer")
def dormant_ratio(policies: Policies, seed: int) -> FloatArray:
    """The share of the policy network's hidden units that hardly answer to any task's observations."""
    return dormant(policies, seed)


@after_every_task(direction="higher", source=ROY, empty="all features are 0")
def effective_rank(policies: Policies, seed: int) -> FloatArray:
    """How many directions the features of all tasks' observations use: the entropy of their singular values."""
    return np.asarray(represented(policies, seed)["effective_rank"])


@after_every_task(direction="higher", source=KUMAR, empty="all features are 0")
def srank(policies: Policies, seed: int) -> FloatArray:
    """How many directions make up 99% of the features' singular values."""
    return np.asarray(represented(policies, seed)["srank"])


def _alike(policies: Policies, seed: int) -> FloatArray:
    return np.asarray(represented(policies, seed)["cka"])


def _probe_drop(policies: Policies, seed: int) -> FloatArray:
    """(N+1, N) how far policy k's R² of task j lies below what it was at the end of the task's own training."""
    probe = probes(policies, seed)
    drops: FloatArray = np.diagonal(probe[1:]) - probe
    return drops

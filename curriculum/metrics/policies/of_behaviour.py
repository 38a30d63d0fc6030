"""Metrics of policies at play: scores on episodes kept for choosing, whose actions are taken, what is expected."""

from __future__ import annotations

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.policies.averages import after_every_task, of_old_tasks, task_by_task
from etude.curriculum.metrics.policies.behaviour import calibration_error
from etude.curriculum.metrics.policies.played import played, validation_anchors
from etude.curriculum.metrics.policies.stored import Arrays, Policies, Unmeasurable

VALIDATION = "docs/metrics/policies.md"
WU = "after Wu et al. 2019, Large scale incremental learning, and Masana et al. 2022, Class-incremental learning"
GUO = "after Guo et al. 2017, On calibration of modern neural networks"


@task_by_task("validation_matrix", direction="higher", source=VALIDATION)
def validation_scores(policies: Policies, seed: int) -> FloatArray:
    """Each policy's score on each task's validation episodes."""
    if policies.curves.of == "success":
        return np.stack([100 * own["successes"].mean(axis=-1) for own in _all(policies, seed)])
    returns = np.stack([own["returns"].mean(axis=-1) for own in _all(policies, seed)])
    low, high = np.array([validation_anchors(policies, task) for task in policies.tasks]).T
    return np.asarray(100 * (returns - low) / (high - low))


@after_every_task(direction="higher", source=VALIDATION)
def validation_score(policies: Policies, seed: int) -> FloatArray:
    """The mean over the tasks of the score on validation episodes: for choosing, never reported as a result."""
    return np.asarray(validation_scores(policies, seed).mean(axis=-1))


@after_every_task(direction="none", source=WU, axes=2, tasks=2)
def task_confusion(policies: Policies, seed: int) -> FloatArray:
    """Row i, column j: the share of task i's steps whose action lies nearest that of task j's oracle."""
    return np.stack([own["shares"] for own in _all(policies, seed)])


@after_every_task(direction="lower", source=WU, tasks=2, empty="the newest task's oracle cannot act in an older task")
def recency_bias(policies: Policies, seed: int) -> FloatArray:
    """The share of old tasks' steps whose action lies nearest that of the newest task's oracle."""
    shares = task_confusion(policies, seed)
    newest = np.stack([own[:, max(k - 1, 0)] for k, own in enumerate(shares)])
    return of_old_tasks(newest)


@after_every_task(direction="lower", source=GUO)
def value_calibration(policies: Policies, seed: int) -> FloatArray:
    """The expected absolute gap between the critic's value at the start of an episode and what followed."""
    pairs = [_expected(own) for own in _all(policies, seed)]
    return np.array([calibration_error(values.ravel(), came.ravel()) for values, came in pairs])


@task_by_task("value_calibration_per_task", direction="lower", source=GUO)
def value_calibration_per_task(policies: Policies, seed: int) -> FloatArray:
    """The same within each task."""
    pairs = [zip(*_expected(own), strict=True) for own in _all(policies, seed)]
    return np.array([[calibration_error(values, came) for values, came in tasks] for tasks in pairs])


def _all(policies: Policies, seed: int) -> list[Arrays]:
    return [played(policies, seed, k) for k in range(len(policies.names))]


def _expected(own: Arrays) -> tuple[FloatArray, FloatArray]:
    """(N, E) the value of each episode's first observation, and the return that followed."""
    if np.isnan(own["first"]).any() or np.isnan(own["discount"]):
        raise Unmeasurable("needs value and discount, which the agent does not have")
    return own["first"], own["discounted"] + own["discount"] ** own["lengths"] * own["last"]

"""Metrics of policies' weights, and of what learning on makes of them."""

from __future__ import annotations

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray, mean_of_defined
from etude.curriculum.metrics.headline import GATE
from etude.curriculum.metrics.matrix import learnt, matrix
from etude.curriculum.metrics.policies.averages import after_every_task, over_seeds
from etude.curriculum.metrics.policies.behaviour import barrier, off_diagonal_mean
from etude.curriculum.metrics.policies.retrained import pulls, retrained
from etude.curriculum.metrics.policies.stored import Arrays, Policies, Unmeasurable
from etude.curriculum.metrics.policies.weighed import POINTS, segment, weighed
from etude.curriculum.metrics.registry import Undefined, Value, metric
from etude.curriculum.metrics.view import StudyView

DOHARE = "Dohare et al. 2024, Loss of plasticity in deep continual learning"
ZHENG = "Zheng et al. 2025, Spurious forgetting in continual learning of language models"
MIRZADEH = "after Mirzadeh et al. 2021, Linear mode connectivity in multitask and continual learning"
WANG = "Wang et al. 2023, TRACE: a comprehensive benchmark for continual learning in large language models"
COSINES = "docs/metrics/policies.md"
NO_PULL = "a task's gradient is 0"


@metric(direction="none", source=DOHARE, tier="extended")
def weight_norms(view: StudyView) -> Value | Undefined:
    """The length of each layer's weights as one vector, of every policy."""
    return _of_layers(view, "norms", view.policies.names)


@metric(direction="none", source=DOHARE, tier="extended")
def weight_drift(view: StudyView) -> Value | Undefined:
    """How far each layer's weights moved while a task trained, over their length before."""
    return _of_layers(view, "drift", view.tasks)


@metric(direction="higher", source=ZHENG, tier="full", tasks=2, resampled=False)
def recovery(view: StudyView) -> Value | Undefined:
    """The share of an old task's loss that a short retraining brings back, on average."""
    regained, left_out = _recovery(view)
    if isinstance(regained, Undefined):
        return regained
    return Value(mean_of_defined(regained), left_out)


@metric(direction="higher", source=ZHENG, tier="full", tasks=2, resampled=False)
def recovery_per_task(view: StudyView) -> Value | Undefined:
    """The same of each old task."""
    regained, left_out = _recovery(view)
    return regained if isinstance(regained, Undefined) else Value(regained, left_out, [view.tasks[:-1]])


@metric(direction="lower", source=MIRZADEH, tier="full", tasks=2)
def loss_barrier(view: StudyView) -> Value | Undefined:
    """How far a task's score falls below the line between two policies' weights that lie one task apart, on average."""
    return over_seeds(view, lambda policies, seed: np.asarray(_barriers(policies, seed).mean()))


@metric(direction="lower", source=MIRZADEH, tier="full", tasks=2)
def loss_barrier_curve(view: StudyView) -> Value | Undefined:
    """The same of each task but the last, across the training of the one after it."""
    return over_seeds(view, _barriers, [view.tasks[:-1]])


@metric(direction="none", source=MIRZADEH, tier="full", tasks=2)
def loss_barrier_path(view: StudyView) -> Value | Undefined:
    """Each task's score along the segment from the weights at its own end to those at the next task's end."""
    return over_seeds(view, _paths, [view.tasks[:-1], [f"{share:g}" for share in np.linspace(0, 1, POINTS).round(6)]])


@after_every_task(direction="none", source=COSINES, tier="full", tasks=2, axes=2, empty=NO_PULL)
def grad_interference_matrix(policies: Policies, seed: int) -> FloatArray:
    """The cosine of the angle between the directions in which every two tasks would move the policy."""
    return np.stack([pulls(policies, seed, k)["cosines"] for k in range(len(policies.names))])


@after_every_task(direction="higher", source=COSINES, tier="full", tasks=2, empty=NO_PULL)
def grad_interference(policies: Policies, seed: int) -> FloatArray:
    """The mean of these cosines over every two different tasks."""
    return np.array([off_diagonal_mean(own) for own in grad_interference_matrix(policies, seed)])


@metric(direction="none", source=WANG, tier="full")
def general_ppl_delta(view: StudyView) -> Undefined:
    """How much a language model's perplexity on general text rose."""
    return Undefined("needs a language model")


def _of_layers(view: StudyView, what: str, rows: tuple[str, ...]) -> Value | Undefined:
    try:
        layers: list[str] = weighed(view.policies, view.seeds[0])["layers"].tolist()
    except Unmeasurable as error:
        return Undefined(str(error))
    return over_seeds(view, lambda policies, seed: weighed(policies, seed)[what], (rows, layers))


def _recovery(view: StudyView) -> tuple[FloatArray | Undefined, dict[str, str]]:
    """(..., N-1) the share regained of each old task, nan of one that has lost too little, which is also told."""
    point = matrix(view.point)
    lost = learnt(point)[:-1] - point[-1, :-1]
    tasks = view.tasks[:-1]
    left_out = {
        task: f"{view.curves.of} fell by {loss:z.1f}, less than {GATE:g}"
        for task, loss in zip(tasks, lost, strict=True)
        if loss < GATE
    }
    if len(left_out) == len(tasks):
        return Undefined(
            f"no task's {view.curves.of} fell by {GATE:g} or more: there is nothing to bring back"
        ), left_out
    try:
        after = view.over_seeds(np.stack([_after(view.policies, seed, left_out) for seed in view.seeds]))
    except Unmeasurable as error:
        return Undefined(str(error)), left_out
    scores = matrix(view)
    before = scores[..., -1, :-1]
    missing = learnt(scores)[..., :-1] - before
    return (after - before) / np.where(missing > 0, missing, np.nan), left_out


def _after(policies: Policies, seed: int, left_out: dict[str, str]) -> FloatArray:
    """(N-1,) the score of each old task after a short retraining; nan of those left out."""
    scores = [
        np.nan if task in left_out else _score(policies, task, retrained(policies, seed, task))
        for task in policies.tasks[:-1]
    ]
    return np.array(scores, np.float64)


def _paths(policies: Policies, seed: int) -> FloatArray:
    """(N-1, P) each task's score along the segment."""
    return np.stack(
        [_score(policies, task, segment(policies, seed, k + 1)) for k, task in enumerate(policies.tasks[:-1])]
    )


def _barriers(policies: Policies, seed: int) -> FloatArray:
    return np.array([barrier(path) for path in _paths(policies, seed)])


def _score(policies: Policies, task: str, evaluated: Arrays) -> FloatArray:
    """The score, or the success rate in percent, of mean returns and successes of the evaluation episodes."""
    if policies.curves.of == "success":
        return 100 * evaluated["successes"]
    reference = policies.curves.references[task]
    low, high = max(floor.mean() for floor in reference.floors), reference.oracle.mean()
    return np.asarray(100 * (evaluated["returns"] - low) / (high - low))

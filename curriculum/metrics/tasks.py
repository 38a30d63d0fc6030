"""What is measured of each task beside the metrics: learnt and final scores, successes, and its share in BWT."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.backward import lost_shares, measurable_shares
from etude.curriculum.metrics.bootstrap import describe_interval
from etude.curriculum.metrics.once import once
from etude.curriculum.metrics.view import StudyView


@once
def learnt_scores(view: StudyView, group: str = "sequential") -> FloatArray:
    """(..., N) `C_i`, the score at the task's own end; nan for a task that a group's runs are not trained on."""
    scores, order = view.scores(group), list(view.order(group))
    at_end = np.full(scores.shape[:-1], np.nan)
    at_end[..., order] = scores[..., order, np.searchsorted(view.steps(group), view.ends_of(group))]
    return at_end


def learnt_successes(view: StudyView) -> FloatArray:
    """(..., N) share of successes at the task's own end."""
    columns = np.searchsorted(view.steps("sequential"), view.ends)
    return np.diagonal(view.successes_at("sequential", columns.tolist()), axis1=-2, axis2=-1)


def final_scores(view: StudyView) -> FloatArray:
    """(..., N) score at the end of training."""
    return view.scores("sequential")[..., -1]


def final_successes(view: StudyView) -> FloatArray:
    """(..., N) share of successes at the end of training."""
    return view.successes_at("sequential", [-1])[..., 0]


@once
def lost(view: StudyView, group: str = "sequential") -> FloatArray:
    """(..., N) `D_i`, nan for a task that was not learnt at the point estimate, or not trained, and the composition."""
    order = list(view.order(group))
    scores = view.scores(group)
    in_order = scores if order == list(range(len(view.tasks))) else scores[..., order, :]
    shares = np.full(scores.shape[:-1], np.nan)
    shares[..., order[:-1]] = lost_shares(view.steps(group), in_order, view.ends_of(group))
    return np.where(learnt_scores(view.point, group) > 0, shares, np.nan)


TASK_MEASURES: Mapping[str, Callable[[StudyView], FloatArray]] = {
    "C": learnt_scores,
    "success_at_end": learnt_successes,
    "final": final_scores,
    "final_success": final_successes,
    "D": lost,
}


def describe_tasks(view: StudyView, samples: Mapping[str, FloatArray]) -> dict[str, Any]:
    """Every task's measures, each with an interval and per-seed values beside it.

    Args:
        view: the point estimate's view.
        samples: (B, N) of each measure, under B resamples.
    """
    points = {name: measure(view) for name, measure in TASK_MEASURES.items()}
    seeds = {
        seed: {name: measure(view.curves.view((seed,))) for name, measure in TASK_MEASURES.items()}
        for seed in view.seeds
    }
    ceilings = measurable_shares(view.steps("sequential"), view.ends)
    described: dict[str, Any] = {}
    for index, task in enumerate(view.tasks):
        entry: dict[str, Any] = {"end": view.ends[index]}
        for name, values in points.items():
            entry[name] = values[index]
            entry[f"{name}_interval"] = describe_interval(samples[name][:, index], view)
        entry["D_reason"] = _why_no_share(view, index)
        entry["D_ceiling"] = ceilings[index] if index < len(ceilings) else None
        entry["per_seed"] = {
            str(seed): {name: values[index] for name, values in measured.items()} for seed, measured in seeds.items()
        }
        described[task] = entry
    return described


def _why_no_share(view: StudyView, index: int) -> str | None:
    if index == len(view.tasks) - 1:
        return "the last task: no training follows in which it could be lost"
    score = learnt_scores(view)[index]
    return None if score > 0 else f"not learnt: {view.curves.of} {score:z.1f} at its own end is not above the floor"

"""Bootstrap intervals over seeds and evaluation episodes, crossed."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.view import Draw, StudyView
from etude.envs.seeding import seed_sequence

RESAMPLES = 10_000
LEVEL = 0.95
ENOUGH_SEEDS = 6
"""Fewer seeds than this and a percentile interval over them covers well less than it says."""

_CHUNK_NUMBERS = 2_000_000


def draw_resamples(view: StudyView, resamples: int = RESAMPLES) -> Draw:
    """Draws with replacement, as counts: one of seeds, and one of episode indices a task.

    All checkpoints, regimes and references of a resample share them, since all seeds meet the same episodes. The
    generators depend on nothing but the task's name, so the same study has the same intervals whenever it is measured.
    """
    episodes = view.curves.suite.evaluation.episodes
    return Draw(
        _counts(len(view.seeds), resamples, "seeds"),
        {task: _counts(episodes, resamples, "episodes", task) for task in view.tasks},
    )


def bootstrap(
    view: StudyView, measures: Mapping[str, Callable[[StudyView], FloatArray]], resamples: int = RESAMPLES
) -> dict[str, FloatArray]:
    """What each function measures under every resample.

    Args:
        view: the point estimate's view.
        measures: functions from a view of B resamples to an array whose first axis is B.
        resamples: how many.

    Returns:
        Of each measure, (resamples, ...).
    """
    draw = draw_resamples(view, resamples)
    checkpoints = max(len(regime.steps) for regime in view.curves.regimes.values())
    a_resample = len(view.tasks) * checkpoints + len(view.seeds) * view.curves.suite.evaluation.episodes
    chunk = max(1, _CHUNK_NUMBERS // a_resample)

    def measured(start: int) -> dict[str, FloatArray]:
        some = view.resampled(draw.rows(slice(start, start + chunk)))
        return {name: measure(some).copy() for name, measure in measures.items()}  # a view would keep the curves alive

    # The threads are ours: BLAS threads of their own inside each would wait for one another.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        parts = list(pool.map(measured, range(0, resamples, chunk)))
    return {name: np.concatenate([part[name] for part in parts]) for name in measures}


def describe_interval(samples: FloatArray, view: StudyView) -> dict[str, Any] | None:
    """The percentile interval of one number, over the resamples in which it is defined.

    Args:
        samples: (B,) its values; nan where a resample leaves it undefined.
        view: whose seeds were resampled.

    Returns:
        `low`, `high`, `level`, `resamples` and `too_few_seeds`; None where no resample has a value.
    """
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        return None
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(defined, [tail, 100 - tail])
    return {
        "low": low,
        "high": high,
        "level": LEVEL,
        "resamples": len(samples),
        "too_few_seeds": len(view.seeds) < ENOUGH_SEEDS,
    }


def _counts(count: int, resamples: int, *purpose: str) -> FloatArray:
    generator = np.random.default_rng(seed_sequence("bootstrap", *purpose))
    return generator.multinomial(count, np.full(count, 1 / count), size=resamples).astype(np.float64)

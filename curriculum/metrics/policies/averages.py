"""From what was measured of each seed's policies to a metric: averaged over the seeds of a view."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray, mean_of_defined
from etude.curriculum.metrics.policies.stored import Policies, Unmeasurable
from etude.curriculum.metrics.registry import Direction, Tier, Undefined, Value, metric
from etude.curriculum.metrics.view import StudyView

Measure = Callable[[Policies, int], FloatArray]


def over_seeds(
    view: StudyView, measure: Measure, labels: Sequence[Sequence[str]] = (), empty: str = "none of it is defined"
) -> Value | Undefined:
    """The mean over a view's seeds of what is measured of each seed's policies.

    Args:
        view: of the study.
        measure: from the policies and a seed to a number or an array; nan does not count.
        labels: of an array's places.
        empty: why there is no value where all is nan.
    """
    try:
        rows = np.stack([np.asarray(measure(view.policies, seed), np.float64) for seed in view.seeds])
    except Unmeasurable as error:
        return Undefined(str(error))
    if np.isnan(rows).all():
        return Undefined(empty)
    return Value(view.over_seeds(rows), labels=labels)


def after_every_task(
    *,
    direction: Direction,
    source: str,
    tier: Tier = "extended",
    tasks: int = 1,
    axes: int = 0,
    empty: str = "none of it is defined",
) -> Callable[[Measure], Measure]:
    """Register what is measured of every policy of a run as two metrics: at the end, and `_curve`, of all of them.

    A decorator of a function that gives (N+1, ...): policy 0 is the untrained one, policy k that after k tasks.

    Args:
        direction: as of a metric.
        source: as of a metric.
        tier: as of a metric.
        tasks: the least number of tasks that it needs.
        axes: how many further axes there are, all of which run over the tasks.
        empty: why there is no value where all is nan.
    """

    def register(measure: Measure) -> Measure:
        def at_the_end(view: StudyView) -> Value | Undefined:
            return over_seeds(view, lambda policies, seed: measure(policies, seed)[-1], [view.tasks] * axes, empty)

        def curve(view: StudyView) -> Value | Undefined:
            return over_seeds(view, measure, [view.policies.names, *[view.tasks] * axes], empty)

        name = measure.__name__
        at_the_end.__doc__, curve.__doc__ = measure.__doc__, f"{name} of the untrained policy and after every task."
        metric(name, direction=direction, source=source, tier=tier, tasks=tasks)(at_the_end)
        metric(f"{name}_curve", direction=direction, source=source, tier=tier, tasks=tasks)(curve)
        return measure

    return register


def task_by_task(
    name: str, *, direction: Direction, source: str, empty: str = "none of it is defined"
) -> Callable[[Measure], Measure]:
    """Register what is measured of every policy on every task, (N+1, N), as one metric: a row a policy.

    A decorator; the arguments are those of `after_every_task`, the name is the metric's.
    """

    def register(measure: Measure) -> Measure:
        def matrix(view: StudyView) -> Value | Undefined:
            return over_seeds(view, measure, [view.policies.names, view.tasks], empty)

        matrix.__doc__ = measure.__doc__
        metric(name, direction=direction, source=source, tier="extended")(matrix)
        return measure

    return register


def of_old_tasks(values: FloatArray) -> FloatArray:
    """(N+1,) the mean over the tasks before the newest, of values (N+1, N) of policy k and task j; nan without any."""
    means = np.full(len(values), np.nan)
    for k in range(2, len(values)):
        means[k] = mean_of_defined(values[k, : k - 1])
    return means

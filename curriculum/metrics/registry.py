"""Metrics by name: each a function from a study to a value, or to the reason why there is none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from etude.envs.errors import RequestError, nearest

if TYPE_CHECKING:
    from etude.curriculum.metrics.view import StudyView

Tier = Literal["core", "extended", "full"]
Direction = Literal["higher", "lower", "none"]


@dataclass(frozen=True)
class Undefined:
    """What a metric returns where it has no value: never 0, never nan."""

    reason: str


@dataclass(frozen=True, eq=False)
class Value:
    """What a metric measured.

    Attributes:
        value: a number, or an array for a metric that is a curve or a matrix. Of a view with resamples, the same
            behind one leading axis for them.
        left_out: tasks that do not enter the value, and why.
    """

    value: float | NDArray[np.float64]
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Metric:
    """A registered metric.

    Attributes:
        name: its key in metrics.json.
        function: from a study, seen averaged over seeds, as one seed, or resampled, to its value.
        tier: what it needs: `core` the records, `extended` saved policies, `full` much time.
        direction: whether a higher or a lower value is better.
        source: paper, or page of the documentation, that defines it.
        regimes: what it reads; without one of them it is undefined, and only seeds that finished all of them count.
    """

    name: str
    function: Callable[["StudyView"], Value | Undefined]
    tier: Tier
    direction: Direction
    source: str
    regimes: tuple[str, ...] = ("sequential",)


_METRICS: dict[str, Metric] = {}


def register_metric(metric: Metric) -> Metric:
    """Make a metric known by its name.

    Raises:
        RequestError: another metric has that name.
    """
    if metric.name in _METRICS:
        raise RequestError(f"metric {metric.name}: registered already, choose another name")
    _METRICS[metric.name] = metric
    return metric


def get_metric(name: str) -> Metric:
    """The metric of that name.

    Raises:
        RequestError: there is none; the line suggests the nearest.
    """
    if name not in _METRICS:
        raise RequestError(f"unknown metric {name}: {nearest(name, _METRICS)}")
    return _METRICS[name]


def metric_names() -> tuple[str, ...]:
    """The names of all metrics, in the order they were registered."""
    return tuple(_METRICS)

"""Metrics by name: each a function from a study to a value, or to the reason why there is none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from etude.envs.errors import RequestError, nearest

if TYPE_CHECKING:
    from etude.curriculum.metrics.view import StudyView

Tier = Literal["core", "extended", "full"]
TIERS: tuple[Tier, ...] = get_args(Tier)
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
        labels: of an array, what stands at each place of each axis, such as a task's name.
    """

    value: float | NDArray[np.float64]
    left_out: Mapping[str, str] = field(default_factory=dict)
    labels: Sequence[Sequence[str]] = ()


Function = Callable[["StudyView"], Value | Undefined]


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
        tasks: the least number of tasks that it needs.
        resampled: whether the bootstrap gives it an interval; one that does not follow from the scores has none.
    """

    name: str
    function: Function
    tier: Tier
    direction: Direction
    source: str
    regimes: tuple[str, ...] = ("sequential",)
    tasks: int = 1
    resampled: bool = True


F = TypeVar("F", bound=Function)
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


def metric(
    name: str | None = None,
    *,
    direction: Direction,
    source: str,
    tier: Tier = "core",
    regimes: tuple[str, ...] = ("sequential",),
    tasks: int = 1,
    resampled: bool = True,
) -> Callable[[F], F]:
    """Register a function as a metric: a decorator; the arguments are those of `Metric`, the name the function's own.

    Raises:
        RequestError: another metric has that name.
    """

    def register(function: F) -> F:
        own = getattr(function, "__name__", "")
        register_metric(Metric(name or own, function, tier, direction, source, regimes, tasks, resampled))
        return function

    return register


def get_metric(name: str) -> Metric:
    """The metric of that name.

    Raises:
        RequestError: there is none; the line suggests the nearest.
    """
    if name not in _METRICS:
        raise RequestError(f"unknown metric {name}: {nearest(name, _METRICS)}")
    return _METRICS[name]


def known_metric(function: Function) -> Metric | None:
    """The metric that a function is registered as, if it is."""
    return next((metric for metric in _METRICS.values() if metric.function is function), None)


def metric_names(tier: Tier = "full") -> tuple[str, ...]:
    """The names of the metrics of a tier and of those below it, in the order they were registered."""
    tiers = TIERS[: TIERS.index(tier) + 1]
    return tuple(name for name, metric in _METRICS.items() if metric.tier in tiers)

"""The headline metrics over several orders of the primitives: each order's value, their mean and spread."""

from collections.abc import Callable

import numpy as np

from etude.curriculum.metrics.headline import bwt, bwt_gated, fwt, fwt_total
from etude.curriculum.metrics.registry import Direction, Metric, Undefined, Value, register_metric
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.plan import groups_of

Headline = Callable[[StudyView, str], Value | Undefined]
SOURCE = "docs/metrics/statistics.md"


def over_orders(view: StudyView, headline: Headline) -> Value | Undefined:
    """(..., M) a headline metric of each of the suite's M orders, the suite's own first."""
    groups = groups_of(view.curves.suite, "orders")
    if len(groups) < 2:
        return Undefined("needs several orders of the primitives")
    values = []
    for group in groups:
        result = headline(view, group)
        if isinstance(result, Undefined):
            return Undefined(f"{group}: {result.reason}")
        values.append(result.value)
    return Value(np.stack(values, axis=-1), labels=(groups,))


def _register(headline: Headline, direction: Direction, regimes: tuple[str, ...]) -> None:
    name: str = headline.__name__  # type: ignore[attr-defined]

    def each(view: StudyView) -> Value | Undefined:
        return over_orders(view, headline)

    def mean(view: StudyView) -> Value | Undefined:
        found = over_orders(view, headline)
        return found if isinstance(found, Undefined) else Value(np.asarray(found.value).mean(axis=-1))

    def spread(view: StudyView) -> Value | Undefined:
        found = over_orders(view, headline)
        return found if isinstance(found, Undefined) else Value(np.asarray(found.value).std(axis=-1, ddof=1))

    for suffix, function, better in (("", each, direction), ("_mean", mean, direction), ("_sd", spread, "lower")):
        register_metric(Metric(f"{name}_orders{suffix}", function, "core", better, SOURCE, regimes, tasks=2))


_register(bwt, "lower", ("orders",))
_register(bwt_gated, "lower", ("orders",))
_register(fwt, "higher", ("orders", "scratch"))
_register(fwt_total, "higher", ("orders", "scratch-total"))

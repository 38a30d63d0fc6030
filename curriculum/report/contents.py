"""What a figure of the report shows, whoever draws it: plotly on the page, matplotlib for the paper."""

from collections.abc import Sequence
from dataclasses import dataclass

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.report.panels import Panel

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6BB1", "#A0741B", "#3A9BDC", "#7A7A7A")
"""Told apart by colour-blind readers and on light and dark ground; after the last they begin anew, dashed."""


@dataclass(frozen=True, eq=False)
class Series:
    """Curves over places.

    Attributes:
        names: (M,) of the curves.
        places: (P,) from left to right: steps, or what stands there in words.
        values: (M, P); nan where there is none.
        across: what the places are; empty where they speak for themselves.
        unit: of the values.
    """

    names: Sequence[str]
    places: Sequence[str] | Sequence[float]
    values: FloatArray
    across: str
    unit: str


@dataclass(frozen=True, eq=False)
class Points:
    """Points in a plane, (M, P): P of each of the M names, with what the axes are."""

    names: Sequence[str]
    across: FloatArray
    up: FloatArray
    titles: tuple[str, str]


@dataclass(frozen=True, eq=False)
class Bars:
    """A bar a name, (M,)."""

    names: Sequence[str]
    values: Sequence[float]
    unit: str


@dataclass(frozen=True, eq=False)
class Ranks:
    """Average ranks, (M,), and the critical difference: two that lie further apart differ."""

    names: Sequence[str]
    ranks: Sequence[float]
    critical_difference: float


Content = Panel | Series | Points | Bars | Ranks

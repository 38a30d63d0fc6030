"""What the learning-curve panels of the report show: each task's curves, and the areas that D_i and the FWT measure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.compute import finished_seeds
from etude.curriculum.metrics.curves import Curves

POINTS = 400
"""The most checkpoints of a curve that are drawn."""


@dataclass(frozen=True, eq=False)
class Line:
    """One curve of a panel.

    Attributes:
        group: the run group that it is of, `sequential` or `scratch` or another.
        seed: whose it is; None for the mean of the finished seeds.
        steps: (K,) environment steps on the panel's own axis.
        scores: (K,) score, or success rate in percent.
        finished: whether the run is; one that is not is drawn as far as it goes.
    """

    group: str
    seed: int | None
    steps: NDArray[np.int64]
    scores: FloatArray
    finished: bool = True


@dataclass(frozen=True, eq=False)
class Area:
    """A shaded area between two curves, (K,) each: `lost` of a task, `ahead` or `behind` of the composition."""

    kind: Literal["lost", "ahead", "behind"]
    steps: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class Panel:
    """The panel of one task.

    Attributes:
        task: its id.
        measured: what the shaded area comes to, in words.
        lines: its curves; the means last, so that they lie on top.
        areas: what is shaded.
        window: begin and end of the task's own training on the step axis; None where the axis is its own training.
        boundaries: the steps at which one task's training ends and the next begins.
        checkpoints: how many there are, drawn or not.
    """

    task: str
    measured: str
    lines: tuple[Line, ...]
    areas: tuple[Area, ...]
    window: tuple[int, int] | None
    boundaries: tuple[int, ...]
    checkpoints: int

    @property
    def thinned(self) -> bool:
        """Whether fewer checkpoints are drawn than there are."""
        return self.checkpoints > POINTS


def make_panels(curves: Curves, metrics: Mapping[str, Any]) -> list[Panel]:
    """A panel a task: primitives over the whole training, the composition over its own.

    Args:
        curves: the study's records.
        metrics: what was measured of them; the areas' sizes are taken from here.
    """
    primitives = range(len(curves.suite.tasks) - 1) if "sequential" in curves.regimes else range(0)
    return [*(_primitive(curves, metrics, index) for index in primitives), _composition(curves, metrics)]


def _primitive(curves: Curves, metrics: Mapping[str, Any], index: int) -> Panel:
    task, ends = curves.suite.tasks[index], (0, *curves.suite.ends)
    begin, end = ends[index : index + 2]
    seeds = finished_seeds(curves, ("sequential",))
    lines = _lines(curves, "sequential", index, seeds)
    if f"isolated-{task}" in curves.regimes:
        alone = curves.regimes[f"isolated-{task}"].finished
        lines = [*_lines(curves, f"isolated-{task}", index, alone, since=-begin)[-1:], *lines] if alone else lines
    if "joint" in curves.regimes and curves.regimes["joint"].finished:
        lines = [*_lines(curves, "joint", index, curves.regimes["joint"].finished)[-1:], *lines]
    areas: tuple[Area, ...] = ()
    entry = metrics["tasks"].get(task)
    if entry is None:
        measured = "no seed finished"
    elif entry["D"] is None:
        measured = "not learnt"
    else:
        measured = f"D = {entry['D']:z.1f} of at most {entry['D_ceiling']:z.1f}"
        areas = (_lost(lines[-1], end),)
    return Panel(
        task=task,
        measured=measured + _count(curves, seeds),
        lines=tuple(lines),
        areas=areas,
        window=(begin, end),
        boundaries=ends[1:-1],
        checkpoints=len(curves.regimes["sequential"].steps),
    )


def _composition(curves: Curves, metrics: Mapping[str, Any]) -> Panel:
    begin = curves.suite.ends[-1] - curves.suite.budget[curves.suite.composition]
    index = len(curves.suite.tasks) - 1
    common = finished_seeds(curves, ("sequential", "scratch"))
    since = {"scratch": 0, "sequential": begin, "scratch-total": begin, "joint": begin}
    drawn: list[Line] = []
    for group in (group for group in since if group in curves.regimes):
        alone = group in ("scratch-total", "joint")
        seeds = curves.regimes[group].finished if alone or not common else common
        lines = _lines(curves, group, index, seeds, since=since[group])
        drawn += [line for line in lines if not alone or line.seed is None]
    drawn.sort(key=lambda line: line.seed is None)
    fwt, areas = metrics["metrics"]["fwt"]["value"], []
    if fwt is not None:
        means = {line.group: line for line in drawn if line.seed is None}
        areas = _lead(means["sequential"], means["scratch"])
    return Panel(
        task=curves.suite.composition,
        measured=("no FWT" if fwt is None else f"FWT = {fwt:+z.1f}") + _count(curves, common),
        lines=tuple(drawn),
        areas=tuple(areas),
        window=None,
        boundaries=(),
        checkpoints=max(len(line.steps) for line in drawn) if drawn else 0,
    )


def _lines(curves: Curves, group: str, index: int, seeds: tuple[int, ...], since: int = 0) -> list[Line]:
    """Each seed's curve, then the mean of `seeds` if there are any; the axis begins at the run's step `since`."""
    records = curves.regimes[group]
    lines = []
    for seed in records.seeds:
        scores = curves.view((seed,)).scores(group)[index]
        lines.append(_line(group, seed, records.steps, scores, since, seed not in records.unfinished))
    if seeds:
        lines.append(_line(group, None, records.steps, curves.view(seeds).scores(group)[index], since))
    return [line for line in lines if len(line.steps)]


def _line(
    group: str, seed: int | None, steps: NDArray[np.int64], scores: FloatArray, since: int, finished: bool = True
) -> Line:
    known = ~np.isnan(scores) & (steps >= since)
    return Line(group, seed, steps[known] - since, scores[known], finished)


def _lost(mean: Line, end: int) -> Area:
    """Between C_i and the curve below it from the task's own end on, the curve clipped at the floor."""
    after = mean.steps >= end
    steps, scores = mean.steps[after], mean.scores[after]
    return Area("lost", steps.astype(np.float64), np.clip(scores, 0, scores[0]), np.full(len(steps), scores[0]))


def _lead(practised: Line, fresh: Line) -> list[Area]:
    """Between the two curves, on either side of where they cross."""
    steps, gap = practised.steps.astype(np.float64), practised.scores - fresh.scores
    crossed = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[crossed] / (gap[crossed] - gap[crossed + 1])
    every = np.union1d(steps, steps[crossed] + share * (steps[crossed + 1] - steps[crossed]))
    first, other = np.interp(every, steps, practised.scores), np.interp(every, steps, fresh.scores)
    areas = [
        Area("ahead", every, other, np.maximum(first, other)),
        Area("behind", every, np.minimum(first, other), other),
    ]
    return [area for area in areas if (area.high > area.low).any()]


def _count(curves: Curves, seeds: tuple[int, ...]) -> str:
    planned = len(curves.suite.seeds)
    return "" if len(seeds) == planned else f" ({len(seeds)} of {planned} seeds)"


def thin(steps: FloatArray | NDArray[np.int64], keep: tuple[int, ...] = (), most: int = POINTS) -> NDArray[np.intp]:
    """Indices of at most about `most` of the steps, evenly spread; both ends and the steps to `keep` are among them."""
    if len(steps) <= most:
        return np.arange(len(steps))
    even = np.linspace(0, len(steps) - 1, most).round().astype(np.intp)
    return np.union1d(even, np.flatnonzero(np.isin(steps, keep)))


def worded(group: str) -> str:
    """What the two regimes that the answer is about are called on the page; the other groups by their names."""
    return {"sequential": "practised first", "scratch": "from scratch"}.get(group, group)

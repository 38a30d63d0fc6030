"""One way of looking at a study: averaged over its seeds, as one seed alone, or resampled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.curves import Curves
from etude.curriculum.plan import plan_run, training_order

if TYPE_CHECKING:
    from etude.curriculum.metrics.policies.stored import Policies


@dataclass(frozen=True, eq=False)
class Draw:
    """B draws with replacement.

    Attributes:
        seeds: (B, S) how often each seed was drawn; rows sum to S.
        episodes: (B, E) how often each of a task's evaluation episodes was drawn, of each task; rows sum to E.
    """

    seeds: FloatArray
    episodes: Mapping[str, FloatArray]

    def rows(self, some: slice) -> "Draw":
        """The resamples `some` alone."""
        return Draw(self.seeds[some], {task: counts[some] for task, counts in self.episodes.items()})


class StudyView:
    """What a metric reads: score curves of shape (N, K), or (B, N, K) in a view of B resamples.

    A metric is written once for both: it indexes from the end (`scores[..., task, checkpoint]`) and reduces over
    named axes (`axis=-1`).

    Attributes:
        curves: the study's records.
        seeds: those that this view averages over.
        point: the view of the point estimate: itself, unless it holds resamples. What a metric decides once, such as
            which tasks were learnt, it decides here.
    """

    def __init__(self, curves: Curves, seeds: tuple[int, ...], draw: Draw | None = None, point: Self | None = None):
        """A view of `seeds`, each of which finished every regime that is going to be read."""
        self.curves = curves
        self.seeds = seeds
        self.point = point or self
        self._draw = draw
        self._scores: dict[str, FloatArray] = {}
        self._averages: dict[tuple[str, str], FloatArray] = {}

    @property
    def tasks(self) -> tuple[str, ...]:
        """Task ids in the order they are trained, the composition last."""
        return self.curves.suite.tasks

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """(N,) the step at which each task's own training ends in the sequential regime, b_1..b_N."""
        return np.array(self.curves.suite.ends, dtype=np.int64)

    def ends_of(self, group: str) -> NDArray[np.int64]:
        """(n,) the step at which each task's own training ends in a group's runs, in the order of `order(group)`.

        Raises:
            RequestError: the group trains on all tasks at once, or is none of the suite.
        """
        training_order(self.curves.suite, group)
        return np.array([segment.end for segment in plan_run(self.curves.suite, group).segments], np.int64)

    def order(self, group: str) -> tuple[int, ...]:
        """The places in `tasks` of what a group's runs are trained on, one after another.

        Raises:
            RequestError: as `ends_of`.
        """
        return tuple(self.tasks.index(task) for task in training_order(self.curves.suite, group))

    def steps(self, regime: str) -> NDArray[np.int64]:
        """(K,) checkpoints, counted from the run's start."""
        return self.curves.regimes[regime].steps

    def scores(self, regime: str) -> FloatArray:
        """(..., N, K) mean score, or success rate in percent where that is asked for; nan where not evaluated."""
        if regime not in self._scores:
            if self.curves.of == "success":
                self._scores[regime] = 100 * self.successes(regime)
            else:
                floor, oracle = self._anchors
                scores = self.returns(regime) - floor[..., None]
                scores *= (100 / (oracle - floor))[..., None]
                self._scores[regime] = scores
        return self._scores[regime]

    def returns(self, regime: str) -> FloatArray:
        """(..., N, K) mean undiscounted return; nan where not evaluated."""
        return self._average(regime, "returns")

    def successes(self, regime: str) -> FloatArray:
        """(..., N, K) share of episodes whose last step was a success; nan where not evaluated."""
        return self._average(regime, "successes")

    @property
    def policies(self) -> "Policies":
        """The policies that the study's sequential runs have stored."""
        return self.curves.policies

    def over_seeds(self, rows: FloatArray) -> FloatArray:
        """(...) the mean over the view's seeds of what was measured of each, rows (S, ...); nan does not count."""
        counts = np.ones((1, len(self.seeds))) if self._draw is None else self._draw.seeds
        defined = ~np.isnan(rows)
        number = np.tensordot(counts, defined.astype(np.float64), axes=1)
        means = np.tensordot(counts, np.where(defined, rows, 0.0), axes=1) / np.where(number > 0, number, np.nan)
        return np.asarray(means[0] if self._draw is None else means)

    def successes_at(self, regime: str, columns: Sequence[int]) -> FloatArray:
        """(..., N, len(columns)) the same at some checkpoints alone, which is quicker than all of them."""
        if self._draw is None or (regime, "successes") in self._averages:
            return self.successes(regime)[..., columns]
        return self._resample(self._episodes(regime, "successes")[:, :, columns], self._draw)

    def resampled(self, draw: Draw) -> "StudyView":
        """The same seeds under B resamples."""
        return StudyView(self.curves, self.seeds, draw, self.point)

    @cached_property
    def _anchors(self) -> tuple[FloatArray, FloatArray]:
        """(..., N) floor and oracle in units of return; nan where a resample leaves no margin between them."""
        references = [self.curves.references[task] for task in self.tasks]
        floors = [
            np.max([self._mean(task, returns) for returns in reference.floors], axis=0)
            for task, reference in zip(self.tasks, references, strict=True)
        ]
        oracles = [self._mean(task, reference.oracle) for task, reference in zip(self.tasks, references, strict=True)]
        floor, oracle = np.stack(floors, axis=-1), np.stack(oracles, axis=-1)
        return floor, np.where(oracle > floor, oracle, np.nan)

    def _mean(self, task: str, returns: FloatArray) -> FloatArray:
        return np.asarray(returns.mean()) if self._draw is None else self._draw.episodes[task] @ returns / len(returns)

    def _average(self, regime: str, quantity: str) -> FloatArray:
        key = (regime, quantity)
        if key not in self._averages:
            episodes = self._episodes(regime, quantity)
            if self._draw is None:
                self._averages[key] = episodes.mean(axis=-1).mean(axis=0)
            else:
                self._averages[key] = self._resample(episodes, self._draw)
        return self._averages[key]

    def _episodes(self, regime: str, quantity: str) -> FloatArray:
        """(S, N, K, E) of the view's seeds."""
        records = self.curves.regimes[regime]
        episodes: FloatArray = getattr(records, quantity)
        if self.seeds == records.seeds:
            return episodes
        return episodes[[records.seeds.index(seed) for seed in self.seeds]]

    def _resample(self, episodes: FloatArray, draw: Draw) -> FloatArray:
        """(B, N, K) from (S, N, K, E): a task's curves under all resamples are one matrix product."""
        seeds, tasks, checkpoints, count = episodes.shape
        averages = np.full((tasks, len(draw.seeds), checkpoints), np.nan)
        for index, task in enumerate(self.tasks):
            evaluated = np.asarray(~np.isnan(episodes[:, index]).any(axis=(0, 2)))
            drawn = draw.seeds[:, :, None] * draw.episodes[task][:, None, :] / (seeds * count)
            # From here on every checkpoint is evaluated: a slice, which is quicker than a list of columns.
            tail = checkpoints - int((~evaluated[::-1]).argmax()) if not evaluated.all() else 0
            for columns in (np.flatnonzero(evaluated[:tail]), slice(tail, None)):
                rows = episodes[:, index, columns].transpose(0, 2, 1).reshape(seeds * count, -1)
                averages[index][:, columns] = drawn.reshape(-1, seeds * count) @ rows
        return np.moveaxis(averages, 0, 1)

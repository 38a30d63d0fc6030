"""One way of looking at a study: averaged over its seeds, as one seed alone, or resampled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.curves import Curves
from etude.curriculum.metrics.once import once
from etude.curriculum.plan import training_order

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


@dataclass(frozen=True, eq=False)
class Episodes:
    """A task's evaluations as the resampling reads them: rows are episodes, those of the first seed first.

    Attributes:
        some: (k,) the checkpoints before `tail` at which the task was evaluated.
        at_some: (S * E, k) what its episodes measured there.
        tail: the checkpoint from which on all are evaluated; a slice is quicker than a list of columns.
        at_tail: (S * E, K - tail) what its episodes measured there.
    """

    some: NDArray[np.intp]
    at_some: FloatArray
    tail: int
    at_tail: FloatArray


class StudyView:
    """What a metric reads: score curves of shape (N, K), or (B, N, K) in a view of B resamples.

    A metric is written once for both: it indexes from the end (`scores[..., task, checkpoint]`) and reduces over
    named axes (`axis=-1`).

    Attributes:
        curves: the study's records.
        seeds: those that this view averages over.
        point: the view of the point estimate: itself, unless it holds resamples. What a metric decides once, such as
            which tasks were learnt, it decides here.
        found: what functions under `once` have returned of this view.
    """

    def __init__(self, curves: Curves, seeds: tuple[int, ...], draw: Draw | None = None, point: Self | None = None):
        """A view of `seeds`, each of which finished every regime that is going to be read."""
        self.curves = curves
        self.seeds = seeds
        self.point = point or self
        self.found: dict[tuple[Any, ...], Any] = {}
        self._draw = draw

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
        self.order(group)
        return np.array([segment.end for segment in self.curves.plan(group).segments], np.int64)

    def order(self, group: str) -> tuple[int, ...]:
        """The places in `tasks` of what a group's runs are trained on, one after another.

        Raises:
            RequestError: as `ends_of`.
        """
        return tuple(self.tasks.index(task) for task in training_order(self.curves.suite, group))

    def steps(self, regime: str) -> NDArray[np.int64]:
        """(K,) checkpoints, counted from the run's start."""
        return self.curves.regimes[regime].steps

    @once
    def scores(self, regime: str) -> FloatArray:
        """(..., N, K) mean score, or success rate in percent where that is asked for; nan where not evaluated."""
        if self.curves.of == "success":
            return 100 * self.successes(regime)
        floor, oracle = self._anchors
        scales = 100 / (oracle - floor)
        if self._draw is None:
            return np.asarray((self.returns(regime) - floor[..., None]) * scales[..., None])
        return self._resampled(self.point._by_task(regime, "returns"), floor, scales)

    def returns(self, regime: str) -> FloatArray:
        """(..., N, K) mean undiscounted return; nan where not evaluated."""
        return self._average(regime, "returns")

    def successes(self, regime: str) -> FloatArray:
        """(..., N, K) share of episodes whose last step was a success; nan where not evaluated."""
        return self._average(regime, "successes")

    @property
    def resamples(self) -> int:
        """B, how many resamples the view holds; 0 of a view without."""
        return 0 if self._draw is None else len(self._draw.seeds)

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
        if self._draw is None:
            return self.successes(regime)[..., columns]
        return self._resampled(self.point._by_task(regime, "successes", tuple(columns)))

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

    @once
    def _average(self, regime: str, quantity: str) -> FloatArray:
        if self._draw is None:
            return np.asarray(self._episodes(regime, quantity).mean(axis=-1).mean(axis=0))
        return self._resampled(self.point._by_task(regime, quantity))

    def _episodes(self, regime: str, quantity: str) -> FloatArray:
        """(S, N, K, E) of the view's seeds."""
        records = self.curves.regimes[regime]
        episodes: FloatArray = getattr(records, quantity)
        if self.seeds == records.seeds:
            return episodes
        return episodes[[records.seeds.index(seed) for seed in self.seeds]]

    @once
    def _by_task(self, regime: str, quantity: str, columns: tuple[int, ...] | None = None) -> list[Episodes]:
        """The episodes of every task at all checkpoints, or at some."""
        episodes = self._episodes(regime, quantity)
        episodes = episodes if columns is None else episodes[:, :, columns]
        seeds, _, checkpoints, count = episodes.shape

        def rows(task: FloatArray) -> FloatArray:
            return np.ascontiguousarray(task.swapaxes(1, 2)).reshape(seeds * count, -1)

        found = []
        for task in episodes.swapaxes(0, 1):
            evaluated = ~np.isnan(task).any(axis=(0, 2))
            tail = checkpoints - int((~evaluated[::-1]).argmax()) if not evaluated.all() else 0
            some = np.flatnonzero(evaluated[:tail])
            found.append(Episodes(some, rows(task[:, some]), tail, rows(task[:, tail:])))
        return found

    def _resampled(
        self, tasks: Sequence[Episodes], shifts: FloatArray | None = None, scales: FloatArray | None = None
    ) -> FloatArray:
        """(B, N, K) averages, less the shifts (B, N), times the scales (B, N).

        A task's curves under all resamples are a matrix product, shifted and scaled while they are at hand.
        """
        assert self._draw is not None
        resamples, seeds = self._draw.seeds.shape
        averages = np.empty((len(tasks), resamples, tasks[0].tail + tasks[0].at_tail.shape[1]))
        for index, (curves, own) in enumerate(zip(averages, tasks, strict=True)):
            counts = self._draw.episodes[self.tasks[index]]
            drawn = self._draw.seeds[:, :, None] * counts[:, None, :] / (seeds * counts.shape[1])
            drawn = drawn.reshape(resamples, -1)
            curves[:, : own.tail] = np.nan
            curves[:, own.some] = drawn @ own.at_some
            np.matmul(drawn, own.at_tail, out=curves[:, own.tail :])
            if shifts is not None and scales is not None:
                curves -= shifts[:, index, None]
                curves *= scales[:, index, None]
        return np.moveaxis(averages, 0, 1)

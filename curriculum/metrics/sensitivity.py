"""How much of the headline metrics is the evaluation's: its checkpoints, and its noise."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from etude.curriculum.metrics.arrays import FloatArray, mean_of_defined
from etude.curriculum.metrics.backward import lost_shares
from etude.curriculum.metrics.curves import Curves
from etude.curriculum.metrics.forward import lead
from etude.curriculum.metrics.headline import practised_and_fresh
from etude.curriculum.metrics.once import once
from etude.curriculum.metrics.registry import Metric, Undefined, Value, metric, register_metric
from etude.curriculum.metrics.tasks import learnt_scores
from etude.curriculum.metrics.trajectory import own_window
from etude.curriculum.metrics.view import StudyView
from etude.envs.seeding import seed_sequence

SOURCE = "docs/metrics/statistics.md"
DRAWS = 200
"""Curves that are drawn of an unchanged policy."""
EVALUATIONS = 1000
"""Different evaluations that their checkpoints are drawn from."""


def thinned(view: StudyView, every: int) -> NDArray[np.int64]:
    """The columns of every second, fourth, ... checkpoint of each task's training, and of all its ends."""
    kept = {0}
    for task in range(len(view.tasks)):
        window = own_window(view, task)
        kept |= {*range(window.start, window.stop, every), window.stop - 1}
    return np.array(sorted(kept))


def bwt_at(view: StudyView, every: int) -> Value | Undefined:
    """The bwt of every second, fourth, ... checkpoint."""
    columns = thinned(view, every)
    steps = view.steps("sequential")[columns]
    shares = lost_shares(steps, view.scores("sequential")[..., columns], view.ends)
    learnt = learnt_scores(view.point)[:-1] > 0
    if not learnt.any():
        return Undefined("no task was learnt: none scored above the floor at its own end")
    return Value(mean_of_defined(shares[..., learnt]))


def fwt_at(view: StudyView, every: int) -> Value | Undefined:
    """The fwt of every second, fourth, ... checkpoint of the composition's training."""
    pair = practised_and_fresh(view)
    if isinstance(pair, Undefined):
        return pair
    columns = sorted({*range(0, len(pair[0]), every), len(pair[0]) - 1})
    steps, practised, fresh = (array[..., columns] for array in pair)
    return Value(lead(steps, practised, fresh))


def repeats(curves: Curves) -> bool | None:
    """Whether the evaluation of an unchanged policy repeats itself, episode by episode.

    The untrained agent of a seed is the same in all regimes, and so are its episodes, where the environments follow
    their seeds. None where no task is evaluated at step 0 in two of them.
    """
    same: bool | None = None
    records = [group for group in curves.regimes.values() if group.finished]
    for place, one in enumerate(records):
        for other in records[place + 1 :]:
            for seed in set(one.finished) & set(other.finished):
                first, second = (r.returns[r.seeds.index(seed), :, 0] for r in (one, other))
                both = ~np.isnan(first) & ~np.isnan(second)
                if both.any():
                    if not np.array_equal(first[both], second[both]):
                        return False
                    same = True
    return same


@metric(direction="lower", source=SOURCE, tasks=2, resampled=False)
def bwt_noise(view: StudyView) -> Value | Undefined:
    """The bwt to expect of a policy that no longer changes: 0 where evaluations repeat themselves."""
    shares = noise_shares(view)
    if isinstance(shares, Undefined):
        return shares
    if not shares:
        return Undefined("no task was learnt: none scored above the floor at its own end")
    return Value(float(np.mean([*shares.values()])))


@once
def noise_shares(view: StudyView) -> dict[str, float] | Undefined:
    """The `D_i` to expect, of each learnt task, of a policy that no longer changes.

    0 where evaluations repeat themselves; elsewhere each later checkpoint draws its episodes anew from those at the
    task's own end.
    """
    repeated = repeats(view.curves)
    if repeated is None:
        return Undefined("needs a second regime that evaluates the untrained agent on the same task")
    steps, shares = view.steps("sequential"), {}
    for task, name in enumerate(view.tasks[:-1]):
        if learnt_scores(view.point)[task] > 0:
            column = own_window(view, task).stop - 1
            after = steps[column:].astype(np.float64)
            end, scores = int(view.ends[-1]), _scores(view, name, task, column)
            shares[name] = 0.0 if repeated else _lost_by_noise(scores, after, end, name)
    return shares


def _scores(view: StudyView, name: str, task: int, column: int) -> FloatArray:
    """(S, E) the scores of a task's episodes at a checkpoint, of every seed of the view."""
    records = view.curves.regimes["sequential"]
    rows = [records.seeds.index(seed) for seed in view.seeds]
    if view.curves.of == "success":
        return 100 * records.successes[rows, task, column]
    reference = view.curves.references[name]
    floor = max(returns.mean() for returns in reference.floors)
    return np.asarray(100 * (records.returns[rows, task, column] - floor) / (reference.oracle.mean() - floor))


def _lost_by_noise(scores: FloatArray, steps: FloatArray, end: int, name: str) -> float:
    """The mean D_i over draws in which every checkpoint is an evaluation of one and the same policy."""
    generator = np.random.default_rng(seed_sequence("noise", name))
    seeds, episodes = scores.shape
    curves = np.zeros((DRAWS, len(steps)))
    for row in scores:
        evaluations = row[generator.integers(episodes, size=(EVALUATIONS, episodes))].mean(axis=-1)
        curves += evaluations[generator.integers(EVALUATIONS, size=curves.shape)] / seeds
    shares = lost_shares(steps, curves[:, None, :].repeat(2, axis=1), np.array([steps[0], end]))
    return float(np.nanmean(shares))


def _at(measure: Callable[[StudyView, int], Value | Undefined], every: int) -> Callable[[StudyView], Value | Undefined]:
    return lambda view: measure(view, every)


for _word, _every in (("second", 2), ("fourth", 4)):
    for _metric in (
        Metric(f"bwt_every_{_word}", _at(bwt_at, _every), "core", "lower", SOURCE, tasks=2, resampled=False),
        Metric(
            f"fwt_every_{_word}",
            _at(fwt_at, _every),
            "core",
            "higher",
            SOURCE,
            ("sequential", "scratch"),
            tasks=2,
            resampled=False,
        ),
    ):
        register_metric(_metric)

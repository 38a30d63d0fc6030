from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from etude.curriculum.metrics import bootstrap as module
from etude.curriculum.metrics.bootstrap import bootstrap, describe_interval, draw_resamples
from etude.curriculum.metrics.curves import Curves, load_curves
from etude.curriculum.metrics.headline import fwt
from etude.curriculum.metrics.registry import Value
from etude.curriculum.metrics.tasks import final_scores, learnt_scores, learnt_successes, lost
from etude.curriculum.metrics.view import StudyView
from tests.curriculum.metrics.slow import slow_fwt, slow_share
from tests.curriculum.studies import make_suite, realistic, write_study

TWO = ("reach", "unlock-drawer")


def lead(view: StudyView) -> np.ndarray:
    result = fwt(view)
    assert isinstance(result, Value)
    return np.asarray(result.value)


@pytest.fixture
def curves(tmp_path: Path) -> Curves:
    suite = make_suite()
    return load_curves(write_study(tmp_path / "study", suite, realistic(suite), spread=8.0))


def slow_scores(curves: Curves, regime: str, seeds: Sequence[int], episodes: dict[str, list[int]]) -> list[list[float]]:
    """Mean scores (N, K) over lists of seed rows and of episode indices, drawn repeatedly where listed repeatedly."""
    records = curves.regimes[regime]
    scores = []
    for index, task in enumerate(curves.suite.tasks):
        reference, drawn = curves.references[task], episodes[task]
        oracle = sum(reference.oracle[e] for e in drawn) / len(drawn)
        floor = max(sum(returns[e] for e in drawn) / len(drawn) for returns in reference.floors)
        row = []
        for checkpoint in range(len(records.steps)):
            returns = [records.returns[seed, index, checkpoint, e] for seed in seeds for e in drawn]
            row.append(100 * (sum(returns) / len(returns) - floor) / (oracle - floor))
        scores.append(row)
    return scores


def test_each_resample_is_the_metric_of_the_curves_averaged_over_its_draw(curves: Curves) -> None:
    view = StudyView(curves, (0, 1, 2))
    samples = bootstrap(view, {"D": lost, "fwt": lead}, resamples=20)
    draw = draw_resamples(view, 20)
    steps, ends = curves.regimes["sequential"].steps.tolist(), list(curves.suite.ends)
    begin = steps.index(ends[-2])
    for b in range(20):
        seeds = np.repeat(range(3), draw.seeds[b].astype(int)).tolist()
        episodes = {task: np.repeat(range(4), counts[b].astype(int)).tolist() for task, counts in draw.episodes.items()}
        sequential = slow_scores(curves, "sequential", seeds, episodes)
        scratch = slow_scores(curves, "scratch", seeds, episodes)
        for task in range(3):
            share = slow_share(steps, sequential[task], ends[task], ends[-1], 0.0)
            assert share is not None
            assert samples["D"][b, task] == pytest.approx(float(share), abs=1e-9)
        exact = slow_fwt(curves.regimes["scratch"].steps.tolist(), sequential[-1][begin:], scratch[-1])
        assert samples["fwt"][b] == pytest.approx(float(exact), abs=1e-9)


def test_draws_are_with_replacement_and_differ_between_seeds_and_tasks(curves: Curves) -> None:
    draw = draw_resamples(StudyView(curves, (0, 1, 2)), 1000)
    assert (draw.seeds.sum(axis=1) == 3).all()
    assert {tuple(sorted(row)) for row in draw.seeds.tolist()} == {(0, 0, 3), (0, 1, 2), (1, 1, 1)}
    assert draw.seeds.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.1)
    assert all((counts.sum(axis=1) == 4).all() for counts in draw.episodes.values())
    one, other = draw.episodes["reach"], draw.episodes["press-button"]
    assert not np.array_equal(one, other)


def test_the_same_study_has_the_same_resamples_however_they_are_cut(
    curves: Curves, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = StudyView(curves, (0, 1, 2))
    whole = bootstrap(view, {"final": final_scores}, resamples=100)["final"]
    monkeypatch.setattr(module, "_CHUNK_NUMBERS", 700)
    cut = bootstrap(view, {"final": final_scores}, resamples=100)["final"]
    assert cut == pytest.approx(whole, rel=1e-12)


def test_all_checkpoints_share_a_resamples_episodes(tmp_path: Path) -> None:
    """A policy that does not change meets the same episodes again and again: whatever is drawn, nothing is lost."""
    suite = make_suite(seeds=[0])
    study = write_study(tmp_path / "study", suite, lambda *_: 60.0, spread=8.0)
    curves = load_curves(study)
    records = curves.regimes["sequential"]
    records.returns[:] = records.returns[:, :, -1:]
    view = StudyView(curves, (0,))
    samples = bootstrap(view, {"D": lost, "C": learnt_scores}, resamples=200)
    assert samples["C"].std(axis=0).min() > 1
    assert samples["D"][:, :-1] == pytest.approx(0, abs=1e-9)


def test_both_regimes_share_a_resamples_episodes_and_seeds(tmp_path: Path) -> None:
    suite = make_suite(TWO)
    curves = load_curves(write_study(tmp_path / "study", suite, lambda r, seed, t, step: 30.0 + 20 * seed, spread=8.0))
    scratch = curves.regimes["scratch"].returns
    scratch[:, -1] = curves.regimes["sequential"].returns[:, -1, 4:]
    samples = bootstrap(StudyView(curves, (0, 1, 2)), {"fwt": lead, "final": final_scores}, resamples=200)
    assert samples["final"][:, -1].std() > 1
    assert samples["fwt"] == pytest.approx(0, abs=1e-9)


def test_references_share_a_resamples_episodes(tmp_path: Path) -> None:
    suite = make_suite(TWO, seeds=[0, 1])
    curves = load_curves(write_study(tmp_path / "study", suite, lambda *_: 60.0, spread=40.0))
    for index, task in enumerate(TWO):
        curves.regimes["sequential"].returns[:, index] = curves.references[task].oracle
    samples = bootstrap(StudyView(curves, (0, 1)), {"C": learnt_scores}, resamples=200)
    assert samples["C"] == pytest.approx(100, abs=1e-9)


def test_seeds_are_resampled_whole(tmp_path: Path) -> None:
    """Without spread over episodes, 3 seeds of 30, 50 and 70 can be drawn with 7 different means, of known chances."""
    suite = make_suite(TWO)
    study = write_study(tmp_path / "study", suite, lambda r, seed, t, step: 30.0 + 20 * seed, spread=0.0)
    samples = bootstrap(StudyView(load_curves(study), (0, 1, 2)), {"final": final_scores})["final"][:, 0]
    means, counts = np.unique(samples.round(6), return_counts=True)
    assert means == pytest.approx([30, 110 / 3, 130 / 3, 50, 170 / 3, 190 / 3, 70])
    assert counts / len(samples) == pytest.approx(np.array([1, 3, 6, 7, 6, 3, 1]) / 27, abs=0.02)


def test_the_learnt_set_stays_that_of_the_point_estimate(tmp_path: Path) -> None:
    """Seeds at -20 and 30: a third of the resamples would call the task unlearnt, or a failed one learnt."""

    def score(regime: str, seed: int, task: str, step: int) -> float:
        return {"reach": (-20.0, 30.0)[seed], "lift": (20.0, -30.0)[seed]}.get(task, 50.0)

    suite = make_suite(("reach", "lift", "unlock-drawer"), seeds=[0, 1])
    curves = load_curves(write_study(tmp_path / "study", suite, score, spread=0.0))
    samples = bootstrap(StudyView(curves, (0, 1)), {"D": lost, "C": learnt_scores}, resamples=400)
    below = samples["C"][:, 0] <= 0
    assert 0.1 < below.mean() < 0.4
    assert np.isnan(samples["D"][below, 0]).all()
    assert (samples["D"][~below, 0] == 0).all()
    assert np.isnan(samples["D"][:, 1]).all()


def test_success_rates_are_resampled_too(curves: Curves) -> None:
    view = StudyView(curves, (0, 1, 2))
    samples = bootstrap(view, {"success": learnt_successes}, resamples=500)["success"]
    assert samples.min() >= 0 and samples.max() <= 1
    assert samples.mean(axis=0) == pytest.approx(learnt_successes(view), abs=0.02)


def test_the_interval_leaves_out_what_a_resample_could_not_define(curves: Curves) -> None:
    view = StudyView(curves, (0, 1, 2))
    described = describe_interval(np.array([np.nan, *range(101)]), view)
    assert described == pytest.approx(
        {"low": 2.5, "high": 97.5, "level": 0.95, "resamples": 102, "too_few_seeds": True}
    )
    assert describe_interval(np.array([np.nan, np.nan]), view) is None


def test_six_seeds_are_enough_for_an_interval(tmp_path: Path) -> None:
    suite = make_suite(TWO, seeds=range(6), regimes=["sequential"])
    view = StudyView(load_curves(write_study(tmp_path / "study", suite, lambda *_: 60.0)), tuple(range(6)))
    described = describe_interval(np.arange(10.0), view)
    assert described is not None
    assert described["too_few_seeds"] is False

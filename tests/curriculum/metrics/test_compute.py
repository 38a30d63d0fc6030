import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from etude.curriculum.metrics import backward_transfer, forward_transfer
from etude.curriculum.metrics.compute import compute_metrics, measure
from etude.curriculum.metrics.curves import load_curves
from etude.curriculum.metrics.view import StudyView
from tests.curriculum.studies import TASKS, make_suite, realistic, write_run, write_study

SUITE = make_suite()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("studies") / "study", SUITE, realistic(SUITE))


@pytest.fixture(scope="module")
def measured(study: Path) -> dict[str, Any]:
    return compute_metrics(study)


def plain_metrics(study: Path, seeds: tuple[int, ...]) -> tuple[float | None, float]:
    """BWT and FWT by the plain functions, of curves averaged by hand."""
    curves = load_curves(study)
    sequential, scratch = curves.regimes["sequential"], curves.regimes["scratch"]
    means = {
        name: np.mean([StudyView(curves, (seed,)).scores(name) for seed in seeds], axis=0) for name in curves.regimes
    }
    bwt = backward_transfer(sequential.steps, means["sequential"], SUITE.ends).value
    window = sequential.steps >= SUITE.ends[-2]
    return bwt, forward_transfer(scratch.steps, means["sequential"][-1, window], means["scratch"][-1])


def test_a_studys_values_are_those_of_the_plain_functions(study: Path, measured: dict[str, Any]) -> None:
    bwt, fwt = plain_metrics(study, (0, 1, 2))
    assert measured["metrics"]["bwt"]["value"] == pytest.approx(bwt)
    assert measured["metrics"]["fwt"]["value"] == pytest.approx(fwt)
    assert measured["metrics"]["bwt_gated"]["value"] == measured["metrics"]["bwt"]["value"]
    assert measured["metrics"]["acc"]["value"] == pytest.approx(
        np.mean([entry["final"] for entry in measured["tasks"].values()])
    )


def test_each_seed_is_measured_alone_beside_the_headline(study: Path, measured: dict[str, Any]) -> None:
    for index, name in enumerate(("bwt", "fwt")):
        metric = measured["metrics"][name]
        alone = [plain_metrics(study, (seed,))[index] for seed in (0, 1, 2)]
        assert list(metric["per_seed"]) == ["0", "1", "2"]
        assert list(metric["per_seed"].values()) == pytest.approx(alone)
        assert metric["range"] == {"low": min(alone), "high": max(alone)}
        assert metric["seeds"] == {"counted": [0, 1, 2], "planned": [0, 1, 2]}
        assert metric["interval"]["too_few_seeds"] is True
        assert metric["interval"]["low"] < metric["value"] < metric["interval"]["high"]


def test_each_task_has_its_learnt_and_final_score_and_its_share(study: Path, measured: dict[str, Any]) -> None:
    view = StudyView(load_curves(study), (0, 1, 2))
    result = backward_transfer(view.steps("sequential"), view.scores("sequential"), view.ends)
    assert list(measured["tasks"]) == list(TASKS)
    for index, (task, entry) in enumerate(measured["tasks"].items()):
        column = view.steps("sequential").tolist().index(entry["end"])
        assert entry["end"] == SUITE.ends[index]
        assert entry["C"] == view.scores("sequential")[index, column]
        assert entry["success_at_end"] == view.successes("sequential")[index, column]
        assert entry["final"] == view.scores("sequential")[index, -1]
        assert entry["final_success"] == view.successes("sequential")[index, -1]
        assert entry["C_interval"]["low"] < entry["C"] < entry["C_interval"]["high"]
        if task == "unlock-drawer":
            assert entry["D"] is entry["D_ceiling"] is entry["D_interval"] is None
            assert entry["D_reason"].startswith("the last task")
        else:
            assert entry["D"] == pytest.approx(result.per_task[index])
            assert entry["D_ceiling"] == pytest.approx(result.ceilings[index])
            assert entry["D_reason"] is None
            assert entry["per_seed"]["1"]["D"] != entry["D"]


def test_the_file_holds_what_is_returned_and_nothing_else_is_left(study: Path, measured: dict[str, Any]) -> None:
    text = (study / "metrics.json").read_text()
    assert json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not a plain number")) == measured
    assert {path.name for path in study.iterdir()} == {"suite.yaml", "references.json", "runs", "metrics.json"}


def test_measuring_again_gives_the_same_file(study: Path, measured: dict[str, Any]) -> None:
    before = (study / "metrics.json").read_bytes()
    compute_metrics(study)
    assert (study / "metrics.json").read_bytes() == before


def test_success_rates_are_measured_into_a_file_of_their_own(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE, lambda r, s, t, step: max(100.0 - step, 0.0))
    measured = compute_metrics(study, "success")
    assert [path.name for path in study.glob("metrics*")] == ["metrics-success.json"]
    assert measured["of"] == "success"
    assert measured["tasks"]["reach"]["C"] == 100 * measured["tasks"]["reach"]["success_at_end"] == 50


def test_a_frozen_policy_forgets_exactly_nothing(tmp_path: Path) -> None:
    """Through every file and every average: the same episodes give the same curve, bit by bit."""
    suite = make_suite(budget=170, every=10, episodes=13)
    study = write_study(tmp_path / "study", suite, lambda *_: 63.7)
    for run in (study / "runs").iterdir():
        path = run / "evaluations.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        first = {line["task"]: line["returns"] for line in reversed(lines)}
        path.write_text("".join(json.dumps(line | {"returns": first[line["task"]]}) + "\n" for line in lines))
    measured = compute_metrics(study)
    assert measured["metrics"]["bwt"]["value"] == 0
    assert list(measured["metrics"]["bwt"]["per_seed"].values()) == [0, 0, 0]
    assert [entry["D"] for entry in measured["tasks"].values()] == [0, 0, 0, None]


def test_a_study_half_done_counts_the_seeds_that_are_done(tmp_path: Path, study: Path) -> None:
    half = write_study(tmp_path / "half", SUITE.model_copy(update={"seeds": (0, 1)}), realistic(SUITE))
    (half / "suite.yaml").write_text(SUITE.to_yaml())
    write_run(half, SUITE, "sequential", 2, realistic(SUITE), state="failed", reason="out of memory", until=60)
    write_run(half, SUITE, "scratch", 2, realistic(SUITE))
    (half / "runs" / "scratch-seed0" / "evaluations.jsonl").unlink()
    measured = compute_metrics(half)
    bwt, _ = plain_metrics(study, (0, 1))
    _, fwt = plain_metrics(study, (1,))
    assert measured["metrics"]["bwt"]["value"] == pytest.approx(bwt)
    assert measured["metrics"]["bwt"]["seeds"] == {"counted": [0, 1], "planned": [0, 1, 2]}
    assert measured["metrics"]["fwt"]["value"] == pytest.approx(fwt)
    assert measured["metrics"]["fwt"]["seeds"]["counted"] == [1]
    assert measured["regimes"]["sequential"]["unfinished"] == {"2": "failed at step 60 of 160: out of memory"}
    assert measured["regimes"]["scratch"]["seeds"]["counted"] == [1, 2]
    assert measured["warnings"] == [
        "sequential-seed2 does not count: failed at step 60 of 160: out of memory",
        "scratch-seed0 does not count: its record lacks unlock-drawer at step 0",
    ]


def test_nothing_done_leaves_everything_undefined_with_the_reason(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE.model_copy(update={"seeds": ()}), realistic(SUITE))
    (study / "suite.yaml").write_text(SUITE.to_yaml())
    measured = compute_metrics(study)
    assert measured["tasks"] == {}
    assert {metric["value"] for metric in measured["metrics"].values()} == {None}
    assert measured["metrics"]["bwt"]["reason"] == "no seed has finished sequential"
    assert measured["metrics"]["fwt"]["reason"] == "no seed has finished sequential and scratch"
    assert measured["metrics"]["fwt"]["seeds"] == {"counted": [], "planned": [0, 1, 2]}


@pytest.mark.parametrize(
    ("changes", "bwt", "fwt"),
    [
        ({"regimes": ["sequential"]}, None, "needs the scratch regime"),
        ({"regimes": ["scratch"]}, "needs the sequential regime", "needs the sequential regime"),
        ({"tasks": ["reach"]}, "needs at least 2 tasks", "needs at least 2 tasks"),
    ],
)
def test_what_a_suite_does_not_train_is_undefined(
    tmp_path: Path, changes: dict[str, Any], bwt: str | None, fwt: str
) -> None:
    suite = make_suite(**changes)
    measured = compute_metrics(write_study(tmp_path / "study", suite, realistic(suite)))["metrics"]
    assert measured["bwt"]["reason"] == bwt
    assert (measured["bwt"]["value"] is None) == (bwt is not None)
    assert (measured["fwt"]["value"], measured["fwt"]["reason"]) == (None, fwt)


def test_tasks_that_were_not_learnt_are_left_out_and_named(tmp_path: Path) -> None:
    def score(regime: str, seed: int, task: str, step: int) -> float:
        own = {"reach": -2.0, "press-button": 6.0}.get(task, 80.0)
        return own if step <= 80 else own / 2

    measured = compute_metrics(write_study(tmp_path / "study", SUITE, score, spread=0.01))
    bwt, gated = measured["metrics"]["bwt"], measured["metrics"]["bwt_gated"]
    assert bwt["left_out"] == {"reach": "score -2.0 at its own end, not above 0"}
    assert gated["left_out"] == bwt["left_out"] | {"press-button": "score 6.0 at its own end, below 10"}
    assert measured["tasks"]["reach"]["D"] is None
    assert measured["tasks"]["reach"]["D_reason"] == "not learnt: score -2.0 at its own end is not above the floor"
    shares = [measured["tasks"][task]["D"] for task in ("press-button", "open-drawer")]
    assert bwt["value"] == pytest.approx(np.mean(shares))
    assert gated["value"] == pytest.approx(shares[1])
    assert gated["value"] != pytest.approx(bwt["value"])


def test_a_score_of_exactly_10_is_learnt_well_enough(tmp_path: Path) -> None:
    suite = make_suite(("reach", "unlock-drawer"), episodes=10)
    study = write_study(tmp_path / "study", suite, lambda *_: 10.0)
    assert compute_metrics(study, "success")["metrics"]["bwt_gated"]["value"] == 0


def test_other_checkpoints_from_scratch_leave_fwt_undefined(study: Path) -> None:
    curves = load_curves(study)
    scratch = curves.regimes["scratch"]
    other = replace(scratch, steps=scratch.steps * 2)
    measured = measure(replace(curves, regimes={**curves.regimes, "scratch": other}), ["fwt"])["metrics"]["fwt"]
    assert measured["value"] is None
    assert measured["reason"] == "sequential and scratch were evaluated at different steps of unlock-drawer's training"


def test_no_task_learnt_or_none_well_enough_is_undefined(tmp_path: Path) -> None:
    poor = compute_metrics(write_study(tmp_path / "poor", SUITE, lambda *_: 6.0, spread=0.0))["metrics"]
    assert poor["bwt"]["value"] == 0
    assert poor["bwt_gated"]["reason"] == "no task had a score of 10 at its own end"
    none = compute_metrics(write_study(tmp_path / "none", SUITE, lambda *_: -6.0, spread=0.0))["metrics"]
    assert none["bwt"]["reason"] == "no task was learnt: none scored above the floor at its own end"
    assert none["bwt_gated"]["reason"] == none["bwt"]["reason"]


def test_a_learnt_score_whose_interval_reaches_the_floor_is_warned_of(tmp_path: Path) -> None:
    def score(regime: str, seed: int, task: str, step: int) -> float:
        return {"reach": (-15.0, 20.0, 25.0), "press-button": (3.0, 20.0, 25.0)}.get(task, (80.0,) * 3)[seed]

    measured = compute_metrics(write_study(tmp_path / "study", SUITE, score, spread=0.1))
    assert 0 < measured["tasks"]["press-button"]["C_interval"]["low"] < 5
    [warning] = measured["warnings"]
    assert warning.startswith("reach: the interval of its C_i, -")
    assert warning.endswith("reaches the floor, so its D_i divides noise by noise")


def test_one_seed_has_an_interval_over_its_episodes_alone(tmp_path: Path) -> None:
    suite = make_suite(seeds=[7], episodes=20)
    measured = compute_metrics(write_study(tmp_path / "study", suite, realistic(suite)))["metrics"]["bwt"]
    assert measured["per_seed"] == {"7": measured["value"]}
    assert measured["interval"]["low"] < measured["value"] < measured["interval"]["high"]
    assert measured["interval"]["too_few_seeds"] is True

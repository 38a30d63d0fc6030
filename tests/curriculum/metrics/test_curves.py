import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from etude.curriculum.metrics.curves import load_curves
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.records import read_evaluations
from etude.envs.errors import RequestError
from etude.oracles.scores import score
from tests.curriculum.studies import make_suite, realistic, write_run, write_study

SUITE = make_suite(("reach", "open-drawer", "unlock-drawer"), {"reach": 20, "default": 30}, also=[5])


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_study(tmp_path / "study", SUITE, realistic(SUITE))


def edit(path: Path, change: Any) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in change(lines)))


def test_every_episode_of_every_run_is_where_its_seed_task_and_step_say(study: Path) -> None:
    curves = load_curves(study)
    assert curves.regimes["sequential"].steps.tolist() == [0, 5, 10, 20, 25, 30, 40, 50, 55, 60, 70, 80]
    assert curves.regimes["scratch"].steps.tolist() == [0, 5, 10, 20, 30]
    for regime, records in curves.regimes.items():
        known = 0
        for row, seed in enumerate(SUITE.seeds):
            for evaluation in read_evaluations(study / "runs" / f"{regime}-seed{seed}" / "evaluations.jsonl"):
                cell = row, SUITE.tasks.index(evaluation.task), records.steps.tolist().index(evaluation.step)
                assert records.returns[cell].tolist() == list(evaluation.returns)
                assert records.successes[cell].tolist() == [float(success) for success in evaluation.successes]
                known += len(evaluation.returns)
        assert np.isfinite(records.returns).sum() == known
        assert records.finished == (0, 1, 2)


def test_scores_are_what_the_oracles_module_calls_scores(study: Path) -> None:
    references = json.loads((study / "references.json").read_text())
    curves = load_curves(study)
    scores = StudyView(curves, (1,)).scores("sequential")
    returns = curves.regimes["sequential"].returns[1]
    for index, task in enumerate(SUITE.tasks):
        known = ~np.isnan(scores[index])
        wanted = score(returns[index, known], references[task]).mean(axis=-1)
        assert scores[index, known] == pytest.approx(wanted, abs=1e-9)


def test_scores_of_several_seeds_are_the_mean_of_the_seeds_scores(study: Path) -> None:
    curves = load_curves(study)
    alone = [StudyView(curves, (seed,)).scores("sequential") for seed in (0, 2)]
    assert StudyView(curves, (0, 2)).scores("sequential") == pytest.approx(np.mean(alone, axis=0), nan_ok=True)


def test_success_rates_are_in_percent_where_they_take_the_scores_place(study: Path) -> None:
    view = StudyView(load_curves(study, "success"), (0,))
    assert view.scores("sequential") == pytest.approx(100 * view.successes("sequential"), nan_ok=True)
    assert np.nanmax(view.successes("sequential")) == 1


def test_success_rates_need_no_references(study: Path) -> None:
    (study / "references.json").unlink()
    assert load_curves(study, "success").references == {}
    with pytest.raises(RequestError, match=r"references.json: missing"):
        load_curves(study)


def test_a_task_may_bring_a_floor_of_its_own(study: Path) -> None:
    path = study / "references.json"
    references = json.loads(path.read_text())
    references["reach"]["floor"] = {"returns": [20.0] * 4, "successes": [False] * 4, "lengths": [60] * 4}
    path.write_text(json.dumps(references))
    view = StudyView(load_curves(study), (0,))
    expected = 100 * (view.returns("sequential")[0] - 20) / 30
    assert view.scores("sequential")[0] == pytest.approx(expected, nan_ok=True)


def test_a_run_that_is_missing_or_not_done_does_not_count_and_says_why(tmp_path: Path) -> None:
    suite = make_suite(("reach", "unlock-drawer"), 20, seeds=range(5), regimes=["sequential"])
    study = write_study(tmp_path / "study", suite.model_copy(update={"seeds": (0,)}), lambda *_: 50.0)
    (study / "suite.yaml").write_text(suite.to_yaml())
    write_run(study, suite, "sequential", 1, lambda *_: 50.0, state="diverged", reason="loss is nan", until=20)
    write_run(study, suite, "sequential", 2, lambda *_: 50.0, state="failed", until=0)
    write_run(study, suite, "sequential", 3, lambda *_: 50.0)
    edit(study / "runs" / "sequential-seed3" / "evaluations.jsonl", lambda lines: lines[:3] + lines[4:])
    records = load_curves(study).regimes["sequential"]
    assert records.finished == (0,)
    assert records.unfinished == {
        1: "diverged at step 20 of 40: loss is nan",
        2: "failed",
        3: "its record lacks reach at step 20",
        4: "pending",
    }
    assert np.isfinite(records.returns[1, 0]).all(axis=-1).tolist() == [True, True, True, False, False]
    assert np.isnan(records.returns[4]).all()


def test_a_torn_last_line_is_as_if_it_were_not_there(study: Path) -> None:
    path = study / "runs" / "scratch-seed1" / "evaluations.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    records = load_curves(study).regimes["scratch"]
    assert records.unfinished == {1: "its record lacks unlock-drawer at step 30"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [*lines, lines[0]], "reach at step 0 is recorded twice"),
        (lambda lines: [{**lines[0], "step": 7}], "reach at step 7 is not an evaluation that suite.yaml asks for"),
        (lambda lines: [{**lines[0], "task": "lift"}], "lift at step 0 is not an evaluation"),
        (
            lambda lines: [{**lines[0], "returns": [1.0], "successes": [True], "lengths": [60]}],
            "reach at step 0 has 1 episodes, suite.yaml asks for 4",
        ),
    ],
)
def test_a_record_that_does_not_fit_the_suite_is_named(study: Path, change: Any, message: str) -> None:
    edit(study / "runs" / "sequential-seed0" / "evaluations.jsonl", change)
    with pytest.raises(RequestError, match=r"sequential-seed0/evaluations.jsonl, line \d+: " + message):
        load_curves(study)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"oracle": {"returns": [4.0] * 4}}, "oracle's mean return, 4, is not above its floor"),
        ({"oracle": {"returns": [50.0] * 3}}, "reach: 3 episodes, but the suite evaluates 4"),
        ({"oracle": {"returns": []}}, "reach: 0 episodes, but the suite evaluates 4"),
        ({"random": {"returns": "none"}}, "reach: not a reference"),
        ({"oracle": {}}, "reach: not a reference"),
    ],
)
def test_a_reference_that_gives_no_scores_is_named(study: Path, change: dict[str, Any], message: str) -> None:
    path = study / "references.json"
    references = json.loads(path.read_text())
    references["reach"] |= change
    path.write_text(json.dumps(references))
    with pytest.raises(RequestError, match=f"references.json.*{message}") as raised:
        load_curves(study)
    assert "\n" not in str(raised.value)


def test_a_task_without_a_reference_is_named(study: Path) -> None:
    (study / "references.json").write_text("{}")
    with pytest.raises(RequestError, match=r"references.json, reach: not a reference"):
        load_curves(study)
    (study / "references.json").write_text("{")
    with pytest.raises(RequestError, match=r"references.json: not JSON"):
        load_curves(study)


def test_only_scores_and_success_can_be_read(study: Path) -> None:
    with pytest.raises(RequestError, match="'return' is not known, must be score or success"):
        load_curves(study, "return")  # type: ignore[arg-type]

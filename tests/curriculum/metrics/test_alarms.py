import json
from dataclasses import replace
from pathlib import Path

from etude.curriculum.metrics.alarms import alarms
from etude.curriculum.metrics.compute import compute_metrics
from etude.curriculum.metrics.curves import load_curves
from tests.curriculum.studies import ORACLE, make_suite, realistic, write_study

SUITE = make_suite(budget=20)


def test_a_sound_study_has_no_alarm(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE))
    assert compute_metrics(study)["warnings"] == []


def test_a_score_above_105_says_that_the_oracle_is_no_ceiling(tmp_path: Path) -> None:
    study = write_study(
        tmp_path / "study", SUITE, lambda regime, seed, task, step: 107.0 if (task, step) == ("reach", 30) else 80.0
    )
    assert alarms(load_curves(study), {}) == [
        "reach: a score of 107.0 in sequential at step 30, above 105: its oracle is no ceiling"
    ]


def test_a_floor_near_the_oracle_is_told(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE))
    path = study / "references.json"
    stored = json.loads(path.read_text())
    stored["reach"]["random"]["returns"] = [0.5 * ORACLE] * 4
    path.write_text(json.dumps(stored))
    [alarm] = [alarm for alarm in alarms(load_curves(study), {}) if "floor" in alarm]
    assert alarm.startswith("reach: its floor, a return of 25, is 50% of the oracle's 50: above 30%")


def test_unequal_checkpoints_are_told(tmp_path: Path) -> None:
    curves = load_curves(write_study(tmp_path / "study", SUITE, realistic(SUITE)))
    scratch = replace(curves.regimes["scratch"], steps=curves.regimes["scratch"].steps * 2)
    other = replace(curves, regimes={**curves.regimes, "scratch": scratch})
    assert alarms(other, {}) == ["scratch: not evaluated at the steps at which sequential was: unequal checkpoints"]


def test_references_of_another_simulator_are_told(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE))
    path = study / "references.json"
    stored = json.loads(path.read_text())
    for task in stored:
        stored[task]["fingerprint"]["mujoco"] = "3.9.0" if task == "reach" else "4.0.0"
    path.write_text(json.dumps(stored))
    (study / "environment.json").write_text(json.dumps({"packages": {"mujoco": "4.0.0"}}))
    assert alarms(load_curves(study), {}) == [
        "reach: the references were measured with MuJoCo 3.9.0, the runs with 4.0.0"
    ]

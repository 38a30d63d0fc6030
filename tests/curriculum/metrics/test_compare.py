import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from etude.curriculum.metrics.compare import compare
from etude.curriculum.metrics.compute import compute_metrics
from etude.envs.errors import RequestError
from tests.curriculum.studies import make_suite, realistic, write_study

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def make(folder: str, keep: float, method: str = "finetune", **changes: Any) -> Path:
        suite = make_suite(**{"budget": 20} | changes).model_copy(update={"method": method})
        return write_study(tmp_path / folder, suite, realistic(suite, keep=keep))

    return make


def test_two_methods_are_compared_seed_by_seed(make: Make) -> None:
    studies = [make("one", 0.2), make("other", 0.8, "replay")]
    found = compare(studies)["metrics"]["bwt"]
    alone = [compute_metrics(study)["metrics"]["bwt"] for study in studies]
    assert [v["value"] for v in found["values"].values()] == [m["value"] for m in alone]
    [pair] = found["pairs"]
    assert (pair["first"], pair["second"], pair["seeds"]) == ("one", "other", ["0", "1", "2"])
    gaps = np.array([*alone[0]["per_seed"].values()]) - np.array([*alone[1]["per_seed"].values()])
    assert pair["difference"] == pytest.approx(gaps.mean())
    assert (pair["p"], pair["smallest_p"], pair["test"]) == (0.25, 0.25, "sign-flip")
    assert found["ranks"]["reason"].startswith("ranks: 1 suites")


def test_methods_are_ranked_over_suites_of_different_tasks(make: Make) -> None:
    short = {"tasks": ("reach", "press-button"), "name": "short"}
    studies = [
        *(make("a", 0.2), make("b", 0.8, "replay")),
        *(make("c", 0.2, **short), make("d", 0.8, "replay", **short)),
    ]
    found = compare(studies)["metrics"]
    assert found["bwt"]["ranks"]["average_ranks"] == {"PPO finetune": 2.0, "PPO replay": 1.0}
    assert found["bwt"]["ranks"]["suites"] == ["synthetic", "short"]
    assert [(pair["first"], pair["second"]) for pair in found["bwt"]["pairs"]] == [("a", "b"), ("c", "d")]
    assert found["fwt_total"]["ranks"]["reason"] == "a: needs the scratch-total regime"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("mujoco", "3.9.0", "reach: the simulator, MuJoCo differs, None and 3.9.0"),
        ("version", 1, "reach: the task's version differs, None and 1"),
        ("sources", "0123456789abcdef0", "reach: the code of task or oracle differs, None and 01234567…"),
    ],
)
def test_studies_of_other_fingerprints_are_refused_unless_forced(
    make: Make, key: str, value: object, message: str
) -> None:
    studies = [make("one", 0.2), make("other", 0.8)]
    path = studies[1] / "references.json"
    stored = json.loads(path.read_text())
    stored["reach"]["fingerprint"][key] = value
    path.write_text(json.dumps(stored))
    with pytest.raises(RequestError, match=f"one and other: {message}; .* not compared unless"):
        compare(studies)
    forced = compare(studies, force=True)
    assert forced["differences"] == [f"one and other: {message}"]
    assert forced["metrics"]["bwt"]["pairs"]


def test_studies_without_fingerprints_are_refused(make: Make) -> None:
    studies = [make("one", 0.2), make("other", 0.8)]
    (studies[1] / "references.json").unlink()
    with pytest.raises(RequestError, match="one and other: reach: other has no fingerprint of it"):
        compare(studies, of="success")
    assert compare(studies, of="success", force=True)["metrics"]["bwt"]["pairs"]


def test_studies_run_on_other_simulators_or_for_other_budgets_are_refused(make: Make) -> None:
    studies = [make("one", 0.2), make("other", 0.8), make("longer", 0.8, budget=30)]
    with pytest.raises(RequestError, match="one and longer: budget differs"):
        compare([studies[0], studies[2]])
    for study, version in zip(studies, ("4.0.0", "4.1.0"), strict=False):
        (study / "environment.json").write_text(json.dumps({"packages": {"mujoco": version}}))
    with pytest.raises(RequestError, match="ran on different simulators, MuJoCo 4.0.0 and 4.1.0"):
        compare(studies[:2])


def test_one_study_is_nothing_to_compare_and_a_matrix_neither(make: Make) -> None:
    study = make("one", 0.2)
    with pytest.raises(RequestError, match="at least 2 studies, not 1"):
        compare([study])
    with pytest.raises(RequestError, match="score_matrix: is no single number"):
        compare([study, study], ["score_matrix"])

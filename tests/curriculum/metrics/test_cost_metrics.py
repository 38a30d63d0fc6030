import json
from pathlib import Path
from typing import Any

import pytest

from etude.curriculum.metrics.compute import compute_metrics
from etude.curriculum.status import Status, write_status
from tests.curriculum.studies import make_suite, realistic, write_study

COST: dict[str, Any] = {
    "peak_mem": 4e8,
    "trainable_params": 1000,
    "model_bytes": 5000,
    "buffer_bytes": 0,
    "state_bytes": 10,
    "flops_an_action": 100,
    "flops": {
        "reach": {
            "learning": {"operations": 6400, "steps": 64, "warm_up": 10},
            "method": {"operations": 7, "steps": 40},
        },
        "unlock-drawer": {"learning": {"operations": 12800, "steps": 64}},
    },
}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    suite = make_suite(("reach", "press-button", "unlock-drawer"), seeds=[0, 1], episodes=4)
    folder = write_study(tmp_path / "study", suite, realistic(suite))
    for run in sorted((folder / "runs").iterdir()):
        write_status(
            run / "status.json", Status("done", step=120, of=120, seconds={"learning": 2.0, "evaluation": 0.5})
        )
        if run.name != "scratch-seed1":
            (run / "cost.json").write_text(json.dumps(COST))
    return folder


def test_a_studys_costs_are_put_together_from_its_runs(study: Path) -> None:
    measured = compute_metrics(study)
    metrics = measured["metrics"]
    assert metrics["wall_time"]["value"] == 4 * 2.5
    assert metrics["wall_time"]["per_seed"] == {"0": 5.0, "1": 5.0}
    assert metrics["env_steps_per_s"]["value"] == 60
    assert metrics["peak_mem"]["value"] == 4e8
    assert metrics["state_bytes"]["left_out"] == {"scratch-seed1": "not recorded"}
    assert metrics["wall_time"]["interval"] is None
    assert set(measured["costs"]) == {f"{group}-seed{seed}" for group in ("sequential", "scratch") for seed in (0, 1)}


def test_operations_are_those_of_learning_method_and_evaluation(study: Path) -> None:
    costs = compute_metrics(study)["costs"]
    evaluations = len((study / "runs/sequential-seed0/evaluations.jsonl").read_text().splitlines())
    acting = 100 * evaluations * 4 * 60
    assert costs["sequential-seed0"]["total_flops"] == 100 * (40 - 10) + 200 * 40 + 200 * 40 + 7 + acting
    assert costs["scratch-seed1"]["total_flops"] is None
    assert costs["scratch-seed1"]["wall_time"] == 2.5


def test_a_study_without_the_facts_says_so(tmp_path: Path) -> None:
    suite = make_suite(("reach", "unlock-drawer"), 20)
    measured = compute_metrics(write_study(tmp_path / "study", suite, realistic(suite)))["metrics"]
    for name in ("peak_mem", "total_flops", "wall_time"):
        assert measured[name]["reason"] == "no finished run has recorded it"

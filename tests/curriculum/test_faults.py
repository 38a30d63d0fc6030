from pathlib import Path
from random import Random
from types import ModuleType

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["sequential", "scratch"])
@pytest.mark.parametrize("agent", ["PPO", "SAC"])
def test_a_run_killed_while_it_writes_goes_on_to_the_same_bytes(
    faults: ModuleType, tmp_path: Path, agent: str, regime: str
) -> None:
    trial, draw = faults.run_trial(tmp_path / agent, agent, regime), Random(0)
    removed = {"remove", "rmdir"} if regime == "sequential" else set()
    assert {"open", "write", "fsync", "rename", "mkdir", *removed} <= set(trial.events)
    for number in range(6 if regime == "sequential" else 3):
        trial.kill(number, draw)
    assert trial.killed.total() >= 2
    assert trial.differ == []


@pytest.mark.slow
def test_one_byte_that_differs_is_noticed(faults: ModuleType, tmp_path: Path) -> None:
    trial = faults.run_trial(tmp_path / "PPO", "PPO", "scratch")
    study = tmp_path / "PPO" / "watched" / "study"
    record = study / "runs" / "scratch-seed0" / "evaluations.jsonl"
    record.write_bytes(record.read_bytes()[:-1] + b" ")
    assert trial.compare(study) == ["runs/scratch-seed0/evaluations.jsonl"]

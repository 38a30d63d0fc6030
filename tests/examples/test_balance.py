"""The example of an environment that is not ours: its references, and its suite as the command runs it."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from etude.curriculum.cli import main
from etude.oracles import measure_references, score

CHANGES = ["budget=512", "evaluation.every=256", "evaluation.episodes=4", "agent.parameters.n_steps=32"]


def test_the_oracle_holds_the_pole_and_the_floor_is_the_tasks_own() -> None:
    import_module("balance")
    measured = measure_references("balance-pushed", 24)
    assert list(measured) == ["fingerprint", "oracle", "random", "zero", "floor"]
    assert all(measured["oracle"]["successes"]) and set(measured["oracle"]["lengths"]) == {100}
    assert np.mean(score(measured["floor"]["returns"], measured)) == pytest.approx(0)
    assert not any(measured["floor"]["successes"]) and len(set(measured["floor"]["lengths"])) > 5
    assert list(measure_references("balance", 2)) == ["fingerprint", "oracle", "random", "zero"]


@pytest.mark.slow
def test_its_suite_runs(examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "study"
    assert main(["run", str(examples / "balance.yaml"), *CHANGES, "--out", str(study), "--jobs=2"]) == 0
    assert "balance-pushed" in capsys.readouterr().out
    assert "floor" in json.loads((study / "references.json").read_text())["balance-pushed"]
    assert json.loads((study / "metrics.json").read_text())["metrics"]["bwt"]

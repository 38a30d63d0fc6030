"""The tabletop examples: a primitive with furniture, and a composition of it."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from etude import get_task, make_vector
from etude.curriculum.cli import main
from etude.oracles import measure_oracle

CHANGES = ["budget=256", "evaluation.every=128", "evaluation.episodes=2", "agent.environments=4"]
CHANGES += ["agent.parameters.n_steps=32", "agent.parameters.batch_size=64", "wandb.mode=disabled"]


def lines(path: Path) -> int:
    return len([line for line in path.read_text().splitlines() if line.strip()])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["slide_knob", "knob_then_button"])
def test_the_oracle_is_as_good_as_ours(name: str) -> None:
    import_module(name)
    measured = measure_oracle(name.replace("_", "-"), episodes=64)
    assert measured["oracle"]["success"] == 1 and measured["oracle"]["variation"] < 0.05
    for policy in ("random", "zero"):
        assert measured[policy]["return"] < 0.3 * measured["oracle"]["return"] and measured[policy]["success"] == 0


def test_the_rail_is_placed_in_the_primitive_and_in_the_composition() -> None:
    import_module("knob_then_button")
    for task in ("slide-knob", "knob-then-button"):
        env = make_vector(task, 200)
        env.reset(seed=0)
        scene = env.unwrapped.scene  # type: ignore[attr-defined]
        assert np.allclose(np.ptp(scene.stand("rail"), axis=0), [0.02, 0.08, 0], atol=0.002)
        assert np.allclose(scene.goal, scene.site("knob"))
        assert get_task(task).starts.startswith("Rail ±1 cm along x and ±4 cm along y, the knob at its near end; robot")
        env.close()


def test_they_are_short(examples: Path) -> None:
    assert lines(examples / "knob_then_button.py") <= 5
    assert lines(examples / "slide_knob.py") <= 65
    import_module("knob_then_button")
    assert get_task("knob-then-button").parts == ("slide-knob", "press-button")


def test_their_suite_loads_from_anywhere(examples: Path, tmp_path: Path) -> None:
    code = "import sys; from etude.curriculum.suite import load_suite; print(load_suite(sys.argv[1]).composition)"
    command = [sys.executable, "-c", code, str(examples / "knob.yaml")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("knob-then-button\n", "")


@pytest.mark.slow
def test_their_suite_runs(examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "study"
    assert main(["run", str(examples / "knob.yaml"), *CHANGES, "--out", str(study), "--jobs=1"]) == 0
    assert "knob-then-button" in capsys.readouterr().out
    assert json.loads((study / "metrics.json").read_text())["metrics"]["fwt"]["value"] is not None

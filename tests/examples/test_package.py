"""The package of one's own: installed as users install it, its task is one of Étude's."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
name: hover
tasks: [hover-cube]
budget: 128
seeds: [0]
regimes: [scratch]
evaluation: {every: 64, episodes: 2}
agent: {algorithm: PPO, environments: 4, parameters: {n_steps: 16, batch_size: 32}}
wandb: {mode: disabled}
"""


@pytest.mark.slow
def test_an_installed_packages_task_is_listed_measured_and_trained_on_by_workers(
    examples: Path, tmp_path: Path
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(examples / "package", source)
    install = "pip install --quiet --no-deps --no-build-isolation --no-index --disable-pip-version-check --target"
    subprocess.run([sys.executable, "-m", *install.split(), str(target), str(source)], check=True, timeout=300)
    code = "import sys, etude_command; sys.exit(etude_command.main())"
    suite = tmp_path / "hover.yaml"
    suite.write_text(SUITE)
    listed, measured, _ = (
        subprocess.run(
            [sys.executable, "-c", code, *command.split()],
            env=os.environ | {"PYTHONPATH": str(target)},
            cwd=tmp_path,
            capture_output=True,
            check=True,
            timeout=300,
        ).stdout
        for command in ("tasks --json", "oracle hover-cube --episodes 32 --json", f"run {suite} --out study --jobs=1")
    )
    (hover,) = [task for task in json.loads(listed) if task["id"] == "hover-cube"]
    assert hover["description"] == "Bring the finger tips 10 cm above the cube, and stay there."
    assert json.loads(measured)["oracle"]["success"] == 1
    run = tmp_path / "study" / "runs" / "scratch-seed0"
    assert json.loads((run / "status.json").read_text())["state"] == "done"
    assert {json.loads(line)["task"] for line in (run / "evaluations.jsonl").read_text().splitlines()} == {"hover-cube"}

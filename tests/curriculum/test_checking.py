"""`etude check`, and the tasks of one's own that `check`, `oracle` and `watch` are given by their file."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from etude.curriculum import imports
from etude.curriculum.cli import main
from etude.envs.checks import CHECKS
from etude.oracles.checks import ORACLE_CHECKS
from tests.curriculum.conftest import SMALL

TASK = """
import numpy as np
from etude import register_oracle, register_task
from etude.envs.tabletop.reach import Reach
from etude.oracles.tabletop.reach import ReachOracle

class Near(Reach):
    "Reach, by another name."
    id, horizon = "near", 30

class NearOracle(ReachOracle):
    "As that of reach."
    task = "near"

register_task(Near)
register_oracle(NearOracle)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a task in it; what is imported from it is forgotten."""
    monkeypatch.setattr(imports, "_files", {})
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab.py").write_text(TASK)
    yield tmp_path
    for name in ("lab", "pole"):
        sys.modules.pop(name, None)


def test_a_task_from_a_file_is_checked_in_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "near", "--import", "lab.py", "--episodes", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "near" and lines[-1] == f"{len(CHECKS + ORACLE_CHECKS)} passed, 0 failed, 0 not applicable"
    for check in CHECKS + ORACLE_CHECKS:
        assert any(line.startswith("passed") and check.name in line for line in lines)


def test_a_task_that_fails_is_told_to_programs_with_exit_1(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "lab.py").write_text(TASK.replace('"near", 30', '"near", 5'))
    assert main(["check", "near", "--import", "lab", "--episodes", "4", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["task"], told["passed"], told["episodes"]) == ("near", False, 4)
    rows = {row["check"]: row for row in told["checks"]}
    assert list(rows) == [check.name for check in CHECKS + ORACLE_CHECKS]
    assert all(set(row) == {"check", "outcome", "reason", "measured"} for row in rows.values())
    assert rows["oracle solves it steadily"]["outcome"] == "failed"
    assert 0 <= rows["oracle solves it steadily"]["measured"]["success"] < 0.99
    assert rows["same in a fresh process"]["outcome"] == "passed"
    assert rows["fast enough to train on"]["measured"]["steps_per_second"] > 0


def test_one_that_raises_is_named_and_nothing_else_is_asked(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "lab.py").write_text(TASK.replace("30\n", "30\n    def reward(self, scene): return 1 / 0\n"))
    assert main(["check", "near", "--import", "lab.py"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "task near: reward raised ZeroDivisionError: division by zero" in out and "seed 0" in out and "step 1" in out
    assert f"0 passed, 1 failed, {len(CHECKS + ORACLE_CHECKS) - 1} not applicable" in out


def test_a_suite_brings_its_imports_and_its_spaces(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    suite = SMALL | {"tasks": ["near", "pole"], "imports": ["lab.py", "pole.py"]}
    (here / "pole.py").write_text(
        "from etude import register_environment\n"
        "register_environment('InvertedPendulum-v5', id='pole', privileged=lambda env: {}, horizon=9, success=bool)\n"
    )
    (here / "mixed.yaml").write_text(yaml.safe_dump(suite))
    assert main(["check", "near", "--suite", "mixed.yaml"]) == 2
    assert "observations of pole are" in capsys.readouterr().err
    (here / "poles.yaml").write_text(yaml.safe_dump(suite | {"tasks": ["reach"]}))
    assert main(["check", "pole", "--suite", "poles.yaml", "--episodes", "2", "--json"]) == 1
    (row,) = [row for row in json.loads(capsys.readouterr().out)["checks"] if row["check"] == "spaces"]
    assert row["outcome"] == "failed" and "those of reach in suite small" in row["reason"]


@pytest.mark.slow
def test_oracle_and_watch_are_given_a_task_by_its_file_too(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    assert main(["oracle", "near", "--import", "lab.py", "--episodes", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "near"
    assert main(["watch", "near", "--import", "lab:Near", "--out", "near.png"]) in (0, 1)
    captured = capsys.readouterr()
    assert (here / "near.png").exists() or "cannot draw" in captured.err


COMMANDS = [["check", "near"], ["oracle", "near"], ["watch", "near", "--out", "near.png"]]


@pytest.mark.parametrize("command", COMMANDS, ids=["check", "oracle", "watch"])
@pytest.mark.parametrize(
    ("entry", "code", "told"),
    [
        ("nowhere.py", "", "nowhere.py: there is no such file"),
        ("nowhere", "", "--import: nowhere: ModuleNotFoundError: No module named 'nowhere'"),
        ("lab.py", "import no_such_module", "lab.py: ModuleNotFoundError: No module named 'no_such_module'"),
        ("lab.py", "def broken(:", "lab.py: SyntaxError: invalid syntax (lab.py, line 1)"),
        ("lab.py", "1 / 0", "lab.py: ZeroDivisionError: division by zero"),
        ("lab.py", "raise SystemExit", "lab.py: SystemExit: no reason given"),
        ("lab.py", TASK + "register_task(Near)", "lab.py: task id 'near': already registered by Near"),
        ("lab.py", TASK + "register_oracle(NearOracle)", "lab.py: task 'near': has an oracle already, NearOracle"),
        ("lab.py", "from etude import compose; compose('near', ['far'])", "lab.py: task 'near': unknown task 'far'"),
        ("lab.py", "from etude import compose; compose('near', ['near'])", "lab.py: task 'near': is a part of itself"),
        ("lab.py", "", "unknown task 'near'; known: carry, "),
    ],
)
def test_a_file_that_does_not_give_the_task_is_a_line_and_exit_2(
    capsys: pytest.CaptureFixture[str], here: Path, command: list[str], entry: str, code: str, told: str
) -> None:
    (here / "lab.py").write_text(code)
    assert main([*command, "--import", entry]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("etude: ") and captured.err.count("\n") == 1
    assert told in captured.err
    assert sorted(path.name for path in here.iterdir() if path.suffix) == ["lab.py"]


def test_an_oracle_of_the_wrong_shape_is_a_line_and_exit_2(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    act = "    def act(self, privileged): return np.zeros((self.size, 3))\n"
    (here / "lab.py").write_text(TASK.replace('task = "near"\n', f'task = "near"\n{act}'))
    assert main(["oracle", "near", "--import", "lab.py", "--episodes", "2"]) == 2
    error = capsys.readouterr().err
    told = (
        "etude: task 'near': its oracle NearOracle gave actions of shape (2, 3); the action space has (2, 4) (step 0)\n"
    )
    assert error == told

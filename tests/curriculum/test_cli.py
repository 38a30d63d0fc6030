import json
import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import etude
from etude.curriculum import cli
from etude.curriculum.suite import load_suite
from etude.envs import get_task, task_ids
from etude.envs.errors import RequestError, RunError
from etude.oracles import get_oracle, register_floor


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    def fail() -> int:
        raise error

    app = typer.Typer()
    app.callback()(lambda: None)
    app.command()(fail)
    monkeypatch.setattr(cli, "app", app)
    return cli.main(["fail"])


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["tasks"],
        ["run", "--help"],
        ["check", "--help"],
        ["oracle", "--help"],
        ["watch", "--help"],
        ["watch", "-h"],
        ["status", "--help"],
    ],
)
def test_output_fits_80_columns(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert cli.main(command) == 0
    out = capsys.readouterr().out
    assert out and max(map(len, out.splitlines())) <= 80


def test_the_version_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"etude {etude.__version__}\n"


def test_tasks_are_listed_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tasks", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [task["id"] for task in listed] == list(task_ids())
    for task in listed:
        spec = get_task(task["id"])
        assert (task["kind"], task["parts"], task["horizon"]) == (spec.kind, list(spec.parts), spec.horizon)


def test_an_oracles_table_has_the_tasks_own_floor_where_it_has_one(capsys: pytest.CaptureFixture[str]) -> None:
    class Straying(get_oracle("reach")):  # type: ignore[misc]
        """As the oracle, but to where nothing is."""

        def aim(self, privileged: Any, ahead: Any) -> Any:
            return privileged["pad"], False

    assert cli.main(["oracle", "reach", "--episodes=2"]) == 0
    assert "floor" not in capsys.readouterr().out
    register_floor(Straying)
    assert cli.main(["oracle", "reach", "--episodes=2"]) == 0
    assert "floor" in capsys.readouterr().out


def test_tasks_are_listed_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tasks"]) == 0
    out = capsys.readouterr().out
    assert "unlock-drawer  composition of press-button, open-drawer" in out
    assert out.count("Starts: ") == len(task_ids())


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["run", "quik"], "quik: there is no such suite; did you mean quick?"),
        (["run", "quick", "budget=3"], "suite quick: budget.reach: 3 is no multiple of"),
        (["run", "quick", "seeds"], "'seeds' is not an override"),
        (["run", "quick", "--out", "/etc"], "/etc: holds something else"),
        (["run", "quick", "--jobs", "0"], "greater than or equal to 1; see etude run --help"),
        (["run"], "Missing argument 'SUITE'; see etude run --help"),
        (["rn", "quick"], "No such command 'rn'"),
        (["run", "quick", "--jbs", "2"], "No such option: --jbs"),
        (["status", "nowhere"], "nowhere: not a study; it holds no suite.yaml"),
        (["metrics", "nowhere"], "nowhere: not a study; it holds no suite.yaml"),
        (["wandb", "nowhere"], "nowhere: not a study; it holds no suite.yaml"),
        (["metrics", "nowhere", "--of", "luck"], "Invalid value for '--of': 'luck' is not one of 'score', 'success'"),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_2_and_makes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: list[str], message: str
) -> None:
    assert cli.main(command) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("etude: ") and captured.err.count("\n") == 1
    assert message in captured.err
    assert not list(tmp_path.iterdir())


def test_a_suites_file_without_its_ending_is_led_to_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "two-drawers.yaml").write_text("")
    assert cli.main(["run", "two-drawers"]) == 2
    assert "two-drawers: there is no such suite; did you mean two-drawers.yaml?" in capsys.readouterr().err


def test_the_command_that_goes_on_is_the_one_that_was_given(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("etude.curriculum.launch.run_study", lambda *arguments, **options: cli.INTERRUPTED)
    for given in ("run smoke 'seeds=[0]'", "run smoke --out=a --jobs=2"):
        assert cli.main(shlex.split(given)) == 130
        assert capsys.readouterr().out.endswith(f"this goes on:\n  etude {given}\n")


def test_a_study_that_cannot_be_written_goes_on_with_the_same_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **options: object) -> int:
        raise OSError(28, "No space left on device", "studies/smoke/references.json")

    monkeypatch.setattr("etude.curriculum.launch.run_study", full)
    assert cli.main(["run", "smoke"]) == 1
    line = "etude: studies/smoke/references.json: No space left on device; the same command goes on\n"
    assert capsys.readouterr().err == line


def test_a_studys_bare_name_is_led_to_its_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "studies" / "quick").mkdir(parents=True)
    (tmp_path / "studies" / "quick" / "suite.yaml").write_text("")
    assert cli.main(["status", "quick"]) == 2
    assert "did you mean studies/quick?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (RequestError("seeds: wrong"), 2, "etude: seeds: wrong\n"),
        (RunError("reach: diverged at 2048"), 1, "etude: reach: diverged at 2048\n"),
        (SystemExit(3), 1, "etude: SystemExit: 3 (ETUDE_TRACEBACK=1 shows where)\n"),
        (ZeroDivisionError("two\nlines"), 1, "etude: ZeroDivisionError: two lines (ETUDE_TRACEBACK=1 shows where)\n"),
        (OSError(28, "No space left on device", "a/b"), 1, "etude: a/b: No space left on device\n"),
        (KeyboardInterrupt(), 130, "etude: interrupted\n"),
    ],
)
def test_every_failure_is_one_line_and_an_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, line: str
) -> None:
    assert failing(monkeypatch, error) == code
    assert capsys.readouterr().err == line


def test_a_traceback_is_shown_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ETUDE_TRACEBACK", "1")
    assert failing(monkeypatch, ZeroDivisionError("nought")) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_failure_to_tell() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [
        sys.executable,
        "-c",
        "import sys; from etude.curriculum.cli import main; sys.exit(main(['tasks', '--json']))",
    ]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("argument", "heavy"),
    [
        ("--help", {"matplotlib", "mujoco", "pydantic", "scipy", "stable_baselines3", "torch", "wandb"}),
        ("tasks", {"matplotlib", "scipy", "stable_baselines3", "torch", "wandb"}),
    ],
)
def test_help_and_tasks_import_nothing_heavy(argument: str, heavy: set[str]) -> None:
    script = Path(sysconfig.get_path("scripts")) / "etude"
    command = [sys.executable, "-X", "importtime", str(script), argument]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "typer" in imported
    assert not heavy & imported


@pytest.mark.parametrize("folder", ["file", "file/inside", "other"])
def test_a_folder_that_cannot_be_the_studys_is_told_before_torch_is_imported(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("")
    program = (
        "import sys; from etude.curriculum.cli import main; "
        f"code = main(['run', 'quick', '--out', {folder!r}]); sys.exit(9 if 'torch' in sys.modules else code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert f"etude: {folder}: " in done.stderr and done.stderr.endswith("choose another --out\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("agent.parameters.learning_rat=1", "did you mean learning_rate"),
        ("method=ewc", "method: there is no 'ewc'"),
        ("evaluation.every=1000", "is no multiple of the agent's rollout"),
        ("agent.algorithm=RecurrentPPO", "RecurrentPPO is recurrent"),
        ("evaluation.episodes=3", "holds another study, with evaluation.episodes 4, not 3"),
    ],
)
def test_a_wrong_request_is_told_before_what_it_differs_in_from_the_study_that_is_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: str, message: str
) -> None:
    study = tmp_path / "studies" / "smoke"
    study.mkdir(parents=True)
    (study / "suite.yaml").write_text(load_suite("smoke").to_yaml())
    assert cli.main(["run", "smoke", change]) == 2
    captured = capsys.readouterr()
    assert message in captured.err and captured.err.count("\n") == 1
    assert [path.name for path in study.iterdir() if path.is_file()] == ["suite.yaml"]


def test_an_oracle_no_better_than_its_floor_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from etude.oracles import Oracle, registry

    class Idle(Oracle):
        task = "reach"

        def act(self, privileged: dict[str, Any]) -> Any:
            return np.zeros((self.size, 4))

    monkeypatch.setitem(registry._classes, "reach", Idle)
    assert cli.main(["oracle", "reach", "--episodes=2"]) == 0
    error = capsys.readouterr().err
    assert error.startswith("etude: task 'reach': no score, since its oracle's mean") and error.count("\n") == 1

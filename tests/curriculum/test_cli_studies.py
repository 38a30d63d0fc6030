import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from etude.curriculum import cli
from etude.curriculum.status import Status, write_status
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import load_suite, read_suite

MakeStudy = Callable[..., StudyFolder]
SMALL = ["smoke", "tasks=[reach,press-button]", "budget=256", "evaluation.episodes=2", "wandb.mode=disabled"]
COMMAND = [sys.executable, "-c", "import sys; from etude.curriculum.cli import main; sys.exit(main())"]


def etude(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smoke")
    done = etude(folder, "run", *SMALL, "seeds=[0]")
    assert done.returncode == 0, done.stderr
    return folder / "studies" / "smoke"


def records(study: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in study.glob("runs/*/evaluations.jsonl")}


@pytest.mark.parametrize("episodes", ["1", "20"])
def test_an_oracle_is_measured_in_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, episodes: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(["oracle", "reach", "--episodes", episodes]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    first = [line.split()[0] for line in out.splitlines() if line.strip()]
    assert first[-3:] == ["oracle", "random", "zero"]


def test_an_oracle_is_measured_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["oracle", "reach", "--episodes", "5", "--seed", "3", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert (measured["task"], measured["episodes"], measured["seed"]) == ("reach", 5, 3)
    for policy in ("oracle", "random", "zero"):
        assert {"return", "success", "variation"} <= measured[policy].keys()


def test_a_study_not_yet_begun_has_pending_runs(capsys: pytest.CaptureFixture[str], make_study: MakeStudy) -> None:
    study = make_study(seeds=[0, 1])
    assert cli.main(["status", str(study.path), "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["run"] for run in runs] == [f"{regime}-seed{k}" for regime in ("sequential", "scratch") for k in (0, 1)]
    assert {run["state"] for run in runs} == {"pending"}
    assert cli.main(["status", str(study.path)]) == 0
    assert capsys.readouterr().out.count("pending") == 4


def test_status_shows_score_and_time_left_and_what_was_stopped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, make_study: MakeStudy
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    study = make_study(seeds=[0, 1])
    running, stopped = study.run("sequential-seed0"), study.run("sequential-seed1")
    with running.held():
        write_status(running.status, Status("running", "press-button", 156, 256, {"press-button": -0.01}, 2.0))
        with stopped.held():
            write_status(stopped.status, Status("running", "reach", 64, 256))
        assert cli.main(["status", str(study.path)]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    rows = [line.split() for line in out.splitlines()]
    assert ["run", "state", "steps", "task", "score", "left"] in rows
    assert ["sequential-seed0", "running", "156", "of", "256", "press-button", "0.0", "0:50"] in rows
    assert ["sequential-seed1", "stopped", "0", "of", "256", "reach"] in rows
    assert "sequential-seed1: stopped at step 64; goes on from the beginning" in out
    assert ["scratch-seed0", "pending", "0", "of", "128"] in rows
    assert "What was stopped goes on when the study's command is given again." in out


@pytest.mark.slow
def test_a_study_is_run_from_suite_to_metrics(smoke: Path) -> None:
    assert read_suite(smoke) == load_suite(SMALL[0], [*SMALL[1:], "seeds=[0]"])
    assert set(records(smoke)) == {"sequential-seed0", "scratch-seed0"}
    assert {"value", "reason"} <= json.loads((smoke / "metrics.json").read_text())["metrics"]["bwt"].keys()
    status = etude(smoke, "status", str(smoke))
    assert status.stdout.count("done") == 2


@pytest.mark.slow
def test_metrics_table_and_figures_are_made_again_from_the_records(smoke: Path) -> None:
    made = [smoke / "metrics.json", smoke / "figures" / "learning_curves.png"]
    before = made[0].read_bytes()
    for path in made:
        path.unlink()
    table = etude(smoke, "metrics", str(smoke))
    assert table.returncode == 0, table.stderr
    assert "BWT" in table.stdout and max(map(len, table.stdout.splitlines())) <= 80
    assert made[0].read_bytes() == before
    assert made[1].exists()
    printed = etude(smoke, "metrics", str(smoke), "--json", "--of", "success")
    assert json.loads(printed.stdout)["of"] == "success"


@pytest.mark.slow
def test_more_seeds_train_only_those_and_another_suite_is_refused(smoke: Path) -> None:
    before = records(smoke)
    refused = etude(smoke.parent.parent, "run", *SMALL, "seeds=[0]", "evaluation.episodes=3")
    assert refused.returncode == 2
    assert refused.stderr.endswith("holds another study, with evaluation.episodes 2, not 3; choose another --out\n")
    grown = etude(smoke.parent.parent, "run", *SMALL, "seeds=[0,1]", "--jobs=1")
    assert grown.returncode == 0, grown.stderr
    after = records(smoke)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"sequential-seed1", "scratch-seed1"}


@pytest.mark.slow
def test_a_studys_records_are_fed_to_wandb_offline_where_its_suite_has_it_off(smoke: Path) -> None:
    fed = etude(smoke, "wandb", str(smoke))
    assert fed.returncode == 0, fed.stderr
    assert fed.stdout == f"Fed to W&B, offline: {smoke / 'wandb'}\n"
    assert list(smoke.glob("wandb/offline-run-*"))

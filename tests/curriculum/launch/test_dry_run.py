import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from etude.curriculum import cli
from etude.curriculum.launch.dry_run import show_dry_run
from etude.curriculum.launch.profile import load_profile
from etude.curriculum.status import Status, write_status
from etude.curriculum.study import StudyFolder

RUN = ["run", "smoke", "tasks=[reach,press-button]", "seeds=[0,1]"]


def test_a_dry_run_says_what_would_be_run_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main([*RUN, "--dry-run", "--jobs", "2"]) == 0
    printed = capsys.readouterr().out
    assert "smoke: 4 runs to do in studies/smoke, 3,072 steps" in printed
    assert ["sequential-seed0", "1,024", "36"] in [line.split() for line in printed.splitlines()]
    assert "On this machine, 2 at once. Nothing was made or run." in printed
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("place", "module"), [("slurm", "submitit"), ("ray", "ray")])
def test_without_the_extra_a_dry_run_works_and_a_run_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str, module: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    assert cli.main([*RUN, "--on", place, "--dry-run", "profile.gpus=1"]) == 0
    printed = capsys.readouterr().out
    assert "a run, as many at once as there is room for, each with:" in printed
    assert ("gpus-per-node: 1" if place == "slurm" else "gpus: 1.0") in printed
    assert cli.main([*RUN, "--on", place]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"etude: --on {place} needs ") and error.endswith(f"; pip install 'etude[{place}]'\n")
    assert not list(tmp_path.iterdir())


def test_without_slurms_commands_a_run_says_where_to_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("submitit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main([*RUN, "--on", "slurm"]) == 2
    told = "etude: --on slurm: there is no sbatch here; give the command on a machine of Slurm's\n"
    assert capsys.readouterr().err == told


def test_a_profile_without_a_cluster_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for more in (["--profile", "slurm"], ["profile.minutes=60"]):
        assert cli.main([*RUN, *more]) == 2
        assert "with it goes --on slurm or --on ray" in capsys.readouterr().err


@pytest.mark.parametrize("state", ["running", "failed"])
def test_a_dry_run_counts_what_is_left_from_the_save(make_study: Callable[..., StudyFolder], state: str) -> None:
    from etude.curriculum.suite import read_suite

    study = make_study()
    for name, last, step in (("sequential-seed0", "done", 256), ("scratch-seed0", state, 100)):
        study.run(name).path.mkdir(parents=True)
        write_status(study.run(name).status, Status(last, None, step))  # type: ignore[arg-type]
    (study.run("scratch-seed0").save / "64").mkdir(parents=True)
    console = Console(file=io.StringIO(), width=80)
    show_dry_run(read_suite(study.path), study.path, None, load_profile("ray", None), console)
    assert isinstance(console.file, io.StringIO)
    printed = console.file.getvalue()
    assert "small: 1 run to do in" in printed and ", 64 steps" in printed
    assert ["scratch-seed0", "64", "2"] in [line.split() for line in printed.splitlines()]

"""A run's surroundings fail it: the disk is full or read-only, the clock goes back, the study is elsewhere."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from etude.curriculum import cli
from etude.curriculum.claim import claim_folder
from etude.curriculum.runner import execute
from etude.curriculum.status import read_status, study_status
from etude.curriculum.study import RunFolder, StudyFolder
from etude.curriculum.suite import Suite
from etude.envs.errors import RunError


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"mounting is refused: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, suite_of: Callable[..., Suite]) -> StudyFolder:
    study = StudyFolder(tmp_path_factory.mktemp("undisturbed"))
    claim_folder(suite_of(), study.path)
    execute(study.run("sequential-seed0").path)
    return study


@pytest.fixture
def stopped(
    tmp_path: Path, suite_of: Callable[..., Suite], monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path], RunFolder]:
    """Makes a study whose sequential run was stopped after its save of step 64."""

    def make(folder: Path) -> RunFolder:
        from etude.curriculum.agents.sb3 import SB3Agent

        claim_folder(suite_of(), folder)
        run, learn = StudyFolder(folder).run("sequential-seed0"), SB3Agent.learn

        def stop(self: SB3Agent, steps: int) -> None:
            if run.save.exists():
                raise KeyboardInterrupt
            learn(self, steps)

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(SB3Agent, "learn", stop)
            patched.setattr("etude.curriculum.runner.SAVING_SHARE", 1.0)
            execute(run.path)
        return run

    return make


def same(faults: ModuleType, study: StudyFolder, other: StudyFolder) -> bool:
    return bool(faults.contents(study.path) == faults.contents(other.path))


@pytest.mark.parametrize("free", [0, 24, 60, 100])
def test_a_run_on_a_full_disk_ends_and_goes_on_where_there_is_room_again(
    faults: ModuleType, disk: Path, undisturbed: StudyFolder, suite_of: Callable[..., Suite], free: int
) -> None:
    study = StudyFolder(disk / "study")
    claim_folder(suite_of(), study.path)
    run = study.run("sequential-seed0")
    run.path.mkdir(parents=True)
    left = shutil.disk_usage(disk).free
    (disk / "ballast").write_bytes(bytes(left - free * 1024))
    with pytest.raises((RunError, OSError), match="No space left on device"):
        execute(run.path)
    if free:
        status = read_status(run.status)
        assert status.state == "failed" or status.state == "running"
    (disk / "ballast").unlink()
    execute(run.path)
    assert same(faults, study, undisturbed)


@pytest.mark.slow
def test_a_command_on_a_full_disk_says_what_failed_and_goes_on_where_there_is_room_again(
    faults: ModuleType,
    disk: Path,
    undisturbed: StudyFolder,
    suite_of: Callable[..., Suite],
    capsys: pytest.CaptureFixture[str],
) -> None:
    study = StudyFolder(disk / "study")
    claim_folder(suite_of(), study.path)
    command = ["run", str(study.path / "suite.yaml"), "--jobs=1", "--out", str(study.path)]
    (disk / "ballast").write_bytes(bytes(shutil.disk_usage(disk).free - 130 * 1024))
    assert cli.main(command) == 1
    printed, error = capsys.readouterr()
    assert "2 of 2 runs did not end well:" in printed
    assert error == f"etude: {study.path}/metrics.json: No space left on device; the same command goes on\n"
    for row in study_status(study.path)["runs"]:
        assert row["state"] == "failed" and row["reason"].count(" at step ") == 1
        assert row["reason"].endswith("No space left on device; the same command goes on")
    (disk / "ballast").unlink()
    assert cli.main(command) == 0
    names = [name for name in faults.contents(undisturbed.path) if name.startswith("runs/")]
    assert all((study.path / name).read_bytes() == (undisturbed.path / name).read_bytes() for name in names) and names


def test_no_command_breaks_on_a_full_disk(
    disk: Path, undisturbed: StudyFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(undisturbed.path, disk / "study")
    (disk / "ballast").write_bytes(bytes(shutil.disk_usage(disk).free))
    assert cli.main(["run", "smoke", "--out", str(disk / "new")]) == 2
    assert capsys.readouterr().err == (
        f"etude: {disk}/new: cannot be a study's folder: No space left on device; choose another --out\n"
    )
    assert cli.main(["status", str(disk / "study")]) == 0
    assert "done" in capsys.readouterr().out


def test_a_read_only_study_can_be_looked_at_and_is_not_run(
    disk: Path, undisturbed: StudyFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    study = disk / "study"
    shutil.copytree(undisturbed.path, study)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    assert cli.main(["status", str(study), "--watch", "--json"]) == 0
    assert '"state": "done"' in capsys.readouterr().out
    for command, code in ((["run", str(study / "suite.yaml"), "--out", str(study)], 2), (["metrics", str(study)], 2)):
        assert cli.main(command) == code
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "ETUDE_TRACEBACK" not in error
    with pytest.raises(OSError, match="Read-only file system"):
        execute(study / "runs" / "scratch-seed0")


@pytest.mark.parametrize("way", ["moved", "copied"])
def test_a_study_goes_on_elsewhere(
    faults: ModuleType, tmp_path: Path, undisturbed: StudyFolder, stopped: Callable[[Path], RunFolder], way: str
) -> None:
    stopped(tmp_path / "here")
    there = StudyFolder(tmp_path / "deep" / "there")
    (shutil.move if way == "moved" else shutil.copytree)(tmp_path / "here", there.path)
    execute(there.run("sequential-seed0").path)
    assert same(faults, there, undisturbed)
    assert (tmp_path / "here").exists() == (way == "copied")


def test_a_clock_set_back_changes_nothing(
    faults: ModuleType,
    tmp_path: Path,
    undisturbed: StudyFolder,
    stopped: Callable[[Path], RunFolder],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = stopped(tmp_path / "study")
    tomorrow = time.time() + 86_400
    for path in (run.study.path, *run.study.path.rglob("*")):
        os.utime(path, (tomorrow, tomorrow))
    monkeypatch.setattr(time, "time", lambda: 0.0)
    execute(run.path)
    assert same(faults, run.study, undisturbed)

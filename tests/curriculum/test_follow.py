import io
import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from etude.curriculum import cli, follow
from etude.curriculum.status import Status, write_status
from etude.curriculum.study import RunFolder, StudyFolder

MakeStudy = Callable[..., StudyFolder]
BEGUN = Status("running", "press-button", 64, 128, speed=32.0)


@contextmanager
def at_work(run: RunFolder, statuses: list[Status], every: float) -> Iterator[None]:
    """A run that writes one status after another, and is then no longer held."""
    ready = threading.Event()

    def work() -> None:
        with run.held():
            for status in statuses:
                write_status(run.status, status)
                ready.set()
                time.sleep(every)

    worker = threading.Thread(target=work)
    worker.start()
    ready.wait()
    yield
    worker.join()


def test_a_study_at_work_is_followed_to_its_end_a_line_a_change(
    make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(follow, "EVERY", 0.02)
    study = make_study()
    run = study.run("scratch-seed0")
    with at_work(run, [BEGUN, replace(BEGUN, step=100), replace(BEGUN, state="done", step=128)], every=0.5):
        assert cli.main(["status", str(study.path), "--watch", "--json"]) == 0
    seen = [json.loads(line)["runs"][1] for line in capsys.readouterr().out.splitlines()]
    assert [(row["run"], row["state"], row["step"]) for row in seen] == [
        ("scratch-seed0", "running", 64),
        ("scratch-seed0", "running", 100),
        ("scratch-seed0", "done", 128),
    ]


def test_a_study_that_is_stopped_or_copied_is_shown_once(
    make_study: MakeStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = make_study()
    with at_work(study.run("scratch-seed0"), [BEGUN], every=0.5):
        shutil.copytree(study.path, tmp_path / "copy")
        assert cli.main(["status", str(tmp_path / "copy"), "--watch", "--json"]) == 0
        (row,) = [json.loads(line)["runs"][1] for line in capsys.readouterr().out.splitlines()]
        assert (row["state"], row["step"], row["reason"]) == ("pending", 64, "stopped; the same command goes on")
        assert cli.main(["status", str(study.path), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["runs"][1]["state"] == "running"


def test_a_terminal_sees_a_picture_and_how_long_it_takes(make_study: MakeStudy) -> None:
    study = make_study(seeds=[0, 1], regimes=["scratch"])
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=24)
    with at_work(study.run("scratch-seed0"), [BEGUN], every=0.1):
        follow.follow(study.path, console)
    assert isinstance(console.file, io.StringIO)
    assert "64/128" in console.file.getvalue() and "0:06 left" in console.file.getvalue()


def test_what_waits_goes_at_the_mean_speed_of_what_runs() -> None:
    waiting = Status("pending", None, 0, 320)
    statuses = {"a": BEGUN, "b": replace(BEGUN, speed=96.0), "c": waiting}
    assert follow.seconds_left(statuses) == pytest.approx(64 / 96 + 320 / 64)
    assert follow.seconds_left({"c": waiting}) is None

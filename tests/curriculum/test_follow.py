import io
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from etude.curriculum import cli, follow
from etude.curriculum.status import Status, write_status
from etude.curriculum.study import RunFolder, StudyFolder

MakeStudy = Callable[..., StudyFolder]
BEGUN = Status("running", "press-button", 64, 128, speed=32.0)


@pytest.fixture
def at_work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Has a run held, whose status is another after each look, until it is held no longer."""
    with ExitStack() as holds:

        def begin(run: RunFolder, *statuses: Status) -> None:
            holds.enter_context(run.held())
            later = iter(statuses)
            write_status(run.status, next(later))

            def go_on(seconds: float) -> None:
                status = next(later, None)
                if status is None:
                    holds.close()
                else:
                    write_status(run.status, status)

            monkeypatch.setattr(follow, "time", SimpleNamespace(sleep=go_on))

        yield begin


def test_a_study_at_work_is_followed_to_its_end_a_line_a_change(
    make_study: MakeStudy, at_work: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    study = make_study()
    at_work(study.run("scratch-seed0"), BEGUN, BEGUN, replace(BEGUN, step=100), replace(BEGUN, state="done", step=128))
    assert cli.main(["status", str(study.path), "--watch", "--json"]) == 0
    seen = [json.loads(line)["runs"][1] for line in capsys.readouterr().out.splitlines()]
    assert [(row["run"], row["state"], row["step"]) for row in seen] == [
        ("scratch-seed0", "running", 64),
        ("scratch-seed0", "running", 100),
        ("scratch-seed0", "done", 128),
    ]


def test_a_study_that_is_stopped_or_copied_is_shown_once(
    make_study: MakeStudy, tmp_path: Path, at_work: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    study = make_study()
    at_work(study.run("scratch-seed0"), BEGUN)
    (study.run("scratch-seed0").save / "64").mkdir(parents=True)
    shutil.copytree(study.path, tmp_path / "copy")
    assert cli.main(["status", str(tmp_path / "copy"), "--watch", "--json"]) == 0
    (row,) = [json.loads(line)["runs"][1] for line in capsys.readouterr().out.splitlines()]
    assert (row["state"], row["step"], row["reason"]) == ("pending", 64, "stopped; the same command goes on")
    assert cli.main(["status", str(study.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][1]["state"] == "running"


def test_without_a_terminal_there_are_lines_and_in_the_end_the_table(
    make_study: MakeStudy, at_work: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    study = make_study()
    at_work(study.run("scratch-seed0"), BEGUN, replace(BEGUN, state="done", step=128))
    assert cli.main(["status", str(study.path), "--watch"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "scratch-seed0: 64/128 steps, 0:10 left"
    assert any(line.split()[:5] == ["scratch-seed0", "done", "128", "of", "128"] for line in rest)


def test_a_terminal_sees_a_picture_and_how_long_it_takes(make_study: MakeStudy, at_work: Callable[..., None]) -> None:
    study = make_study(seeds=[0, 1], regimes=["scratch"])
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=24)
    at_work(study.run("scratch-seed0"), BEGUN)
    follow.follow(study.path, console)
    assert isinstance(console.file, io.StringIO)
    assert "64/128" in console.file.getvalue() and "0:06 left" in console.file.getvalue()


def test_what_waits_goes_at_the_mean_speed_of_what_runs() -> None:
    waiting = Status("pending", None, 0, 320)
    statuses = {"a": BEGUN, "b": replace(BEGUN, speed=96.0), "c": waiting}
    assert follow.seconds_left(statuses) == pytest.approx(64 / 96 + 320 / 64)
    assert follow.seconds_left({"c": waiting}) is None

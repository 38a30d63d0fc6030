import io

import pytest
from rich.console import Console

from etude.curriculum.launch.display import LiveDisplay, PlainDisplay, clock, make_display, picture, shown_on_stderr
from etude.curriculum.status import Status

ROWS = {
    "sequential-seed0": Status(
        "running", "open-drawer", 204_800, 552_960, {"reach": 88.1, "open-drawer": 12.3}, 4012.2
    ),
    "sequential-seed1": Status("failed", "press-button", 102_400, 552_960, {"press-button": 5.0}, reason="memory"),
    "sequential-seed2": Status("pending", None, 0, 552_960),
    "scratch-seed0": Status("done", None, 163_840, 163_840, {"unlock-drawer": 43.25}),
    "isolated-press-button-seed12": Status("running", None, 0, 163_840),
}


def drawn(height: int) -> list[str]:
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system=None)
    with console.capture() as capture:
        console.print(picture(ROWS, 372, height))
    return capture.get().splitlines()


def test_the_picture_has_a_line_a_run_and_fits_80_columns() -> None:
    lines = drawn(height=24)
    assert len(lines) == len(ROWS) + 2
    assert max(map(len, lines)) <= 80
    first = lines[1].split()
    assert first[:3] == ["sequential-seed0", "open-drawer", "204,800/552,960"] and first[-2:] == ["12.3", "1:27"]
    assert lines[-1].rstrip() == "24% of all steps, 2 of 5 runs finished, 1 failed, 6:12 left"


def test_where_names_are_long_the_share_of_the_steps_stands_for_them() -> None:
    name = "sequential-without-drop-in-drawer-seed12"
    rows = ROWS | {name: Status("running", "drop-in-drawer", 1_204_800, 1_552_960, {"drop-in-drawer": 100.0}, 99.0)}
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system=None)
    with console.capture() as capture:
        console.print(picture(rows, 372, height=24, width=80))
    lines = capture.get().splitlines()
    assert max(map(len, lines)) <= 80
    assert [name, "drop-in-drawer", "78%", "100.0", "58:37"] in [line.split() for line in lines]
    with console.capture() as capture:
        console.print(picture(rows, 372, height=24, width=120))
    assert "204,800/552,960" in capture.get()


def test_joint_training_shows_the_compositions_score() -> None:
    said: list[str] = []
    status = Status("running", "joint", 64, 128, {"reach": 50.0, "unlock-drawer": 7.0}, 9.0)
    PlainDisplay(said.append).show({"joint-seed0": status}, 7)
    assert said == ["joint-seed0: 64/128 steps, joint 7, 0:07 left"]


def test_a_low_terminal_shows_the_runs_at_work() -> None:
    lines = drawn(height=6)
    assert len(lines) == 4
    assert lines[1].startswith("sequential-seed0") and lines[2].startswith("isolated-press-b")
    assert "3 not shown" in lines[-1]


def test_plain_lines_tell_what_is_new_and_nothing_twice() -> None:
    said: list[str] = []
    display = PlainDisplay(said.append)
    display.show(ROWS, 372)
    assert said == [
        "sequential-seed0: 204,800/552,960 steps, open-drawer 12, 6:12 left",
        "sequential-seed1: failed, 102,400/552,960 steps, press-button 5, memory",
        "scratch-seed0: done, 163,840/163,840 steps",
        "isolated-press-button-seed12: 0/163,840 steps, 6:12 left",
    ]
    display.show(ROWS, 370)
    assert len(said) == 4


def test_a_plain_line_of_a_long_run_fits_80_columns() -> None:
    said: list[str] = []
    status = Status("running", "unlock-drawer", 1_204_800, 1_552_960, {"unlock-drawer": 100.0}, 4012.2)
    PlainDisplay(said.append).show({"sequential-seed0": status}, 36_000)
    assert len(said[0]) <= 80


def test_the_display_follows_the_output() -> None:
    assert isinstance(make_display(Console(file=io.StringIO())), PlainDisplay)
    assert isinstance(make_display(Console(file=io.StringIO(), force_terminal=True)), LiveDisplay)


def test_times_are_said_as_people_say_them() -> None:
    assert [clock(s) for s in (0, 7.4, 330, 7500)] == ["0:00", "0:07", "5:30", "2:05:00"]


def test_what_is_at_work_is_a_line_each_on_stderr_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with shown_on_stderr() as tell:
        tell("features of sequential-seed0")
        tell("features of sequential-seed1")
    assert capsys.readouterr() == ("", "features of sequential-seed0\nfeatures of sequential-seed1\n")

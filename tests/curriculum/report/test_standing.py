import io
from typing import Any

from rich.console import Console

from etude.curriculum.report.standing import print_standing


def row(run: str, state: str = "pending", step: int = 0, **more: Any) -> dict[str, Any]:
    usual = {"steps": 12_288, "task": None, "score": None, "seconds_left": None, "reason": None, "exact": True}
    usual |= {"lost": None, "job": None}
    return {"run": run, "state": state, "step": step} | usual | more


ROWS = [
    row("sequential-seed0", "running", 3_072, task="press-button", score=88.1, seconds_left=7400.0),
    row("scratch-seed0", "done", 12_288, score=-0.01, exact=False),
    row("joint-seed0", "pending", 1_024, task="joint", score=1.0, reason="whatever it says", lost=0),
    row("isolated-reach-seed0"),
]
LONG = row("sequential-without-drop-in-drawer-seed12", "failed", 6_144, task="lift", reason="lift: no [memory]")


def printed(rows: list[dict[str, Any]], width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    print_standing({"runs": rows}, console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    return [" ".join(line.split()) for line in lines]


def test_a_line_a_run_with_steps_task_and_score() -> None:
    lines = printed(ROWS)
    assert "run state steps task score left" in lines
    assert "sequential-seed0 running 3,072 of 12,288 press-button 88.1 2:03:20" in lines
    assert "scratch-seed0 done 12,288 of 12,288 0.0" in lines
    assert "joint-seed0 stopped 1,024 of 12,288 joint 1.0" in lines
    assert "isolated-reach-seed0 pending 0 of 12,288" in lines


def test_reasons_follow_below() -> None:
    lines = printed([*ROWS, LONG], width=120)
    assert lines[-3:] == [
        "scratch-seed0: resumed, but not exactly",
        "sequential-without-drop-in-drawer-seed12: lift: no [memory]",
        "What was stopped goes on when the study's command is given again.",
    ]


def test_what_was_stopped_past_its_save_says_so() -> None:
    reason = "whatever it says"
    lines = printed([row("joint-seed0", reason=reason, lost=300)])
    assert "joint-seed0 stopped 0 of 12,288" in lines and f"joint-seed0: {reason}" in lines


def test_what_was_not_stopped_is_not_called_so_whatever_its_reason_says() -> None:
    lines = printed([row("joint-seed0", reason="stopped from doing it")])
    assert "joint-seed0 pending 0 of 12,288" in lines and lines[-1] == "joint-seed0: stopped from doing it"


def test_long_names_leave_room_for_the_share_of_the_steps() -> None:
    lines = printed([*ROWS, LONG])
    assert "run state steps score left" in lines
    assert "sequential-seed0 press-button 25% 88.1 2:03:20" in lines
    assert "sequential-without-drop-in-drawer-seed12 failed 50%" in lines
    assert "isolated-reach-seed0 pending 0%" in lines


def test_a_job_that_waits_is_told_instead_of_the_command_to_give_again() -> None:
    waiting = row(
        "joint-seed0", "pending", 1_024, reason="stopped and saved", lost=0, job="Slurm job 1_0: pending (Resources)"
    )
    at_work = row("scratch-seed0", "running", 1_024, job="Slurm job 1_1: running")
    lines = printed([waiting, at_work])
    assert "joint-seed0 pending 1,024 of 12,288" in lines
    assert lines[-1] == "joint-seed0: Slurm job 1_0: pending (Resources)"

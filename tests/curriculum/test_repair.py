from collections.abc import Callable
from pathlib import Path

import pytest

from etude.curriculum.plan import RunName
from etude.curriculum.repair import forget_where_broken
from etude.curriculum.status import read_status
from etude.curriculum.study import RunFolder, StudyFolder
from tests.curriculum.studies import make_suite, write_run

SUITE = make_suite(("reach", "press-button"), budget=20, seeds=(0,))
NAME = RunName("sequential", 0)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run that is done, with the save of its end."""
    write_run(tmp_path, SUITE, "sequential", 0, lambda *_: 50.0)
    run = StudyFolder(tmp_path).run(NAME)
    (run.save / "40").mkdir(parents=True)
    return run


def lines(run: RunFolder) -> list[str]:
    return run.evaluations.read_text().splitlines(keepends=True)


def test_a_run_whose_record_is_whole_is_left_as_it_is(run: RunFolder) -> None:
    assert forget_where_broken(run, SUITE, NAME) is None
    assert read_status(run.status).state == "done" and (run.save / "40").is_dir()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda run: run.evaluations.unlink(), "lacks reach at step 0"),
        (lambda run: run.evaluations.write_text("".join(lines(run)[:-1])), "lacks press-button at step 40"),
        (lambda run: run.evaluations.write_text("".join(lines(run)[:2] + lines(run)[3:])), "lacks reach at step 10"),
        (lambda run: run.evaluations.write_text("".join(lines(run) + lines(run)[-1:])), "is not what its suite asks"),
    ],
    ids=["deleted", "last line lost", "inner line lost", "a line twice"],
)
def test_a_run_that_is_done_but_whose_record_is_not_whole_starts_again(
    run: RunFolder, change: Callable[[RunFolder], object], fault: str
) -> None:
    change(run)
    assert (forget_where_broken(run, SUITE, NAME) or "").startswith(fault)
    assert read_status(run.status).state == "pending" and not run.save.exists()


def test_a_stopped_run_must_have_recorded_all_up_to_its_save(run: RunFolder) -> None:
    run.status.unlink()
    (run.save / "40").rename(run.save / "20")
    whole = lines(run)
    run.evaluations.write_text("".join(whole[:-2]))
    assert forget_where_broken(run, SUITE, NAME) is None and run.save.exists()
    run.evaluations.write_text("".join(whole[1:-2]))
    assert forget_where_broken(run, SUITE, NAME) == "lacks reach at step 0"
    assert not run.save.exists()


def test_a_run_that_a_process_executes_is_left_alone(run: RunFolder) -> None:
    run.evaluations.unlink()
    with run.held():
        assert forget_where_broken(run, SUITE, NAME) is None
    assert run.save.exists()

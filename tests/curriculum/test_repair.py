import re
from collections.abc import Callable
from pathlib import Path

import pytest

from etude.curriculum.plan import RunName, plan_run
from etude.curriculum.repair import mend
from etude.curriculum.saves import write_save
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
    steps = [checkpoint.step for checkpoint in plan_run(SUITE, NAME.group).checkpoints]
    run.training.write_text("".join(f'{{"step": {step}}}\n' for step in steps[1:]))
    for end in (0, 20, 40):
        run.policy(end).mkdir(parents=True)
    write_save(run.save, 20, lambda folder: None)
    write_save(run.save, 40, lambda folder: None)
    return run


def lines(run: RunFolder) -> list[str]:
    return run.evaluations.read_text().splitlines(keepends=True)


def test_a_run_whose_record_is_whole_is_left_as_it_is(run: RunFolder) -> None:
    assert mend(run, SUITE, NAME) == []
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
    assert [line.startswith(f"its record {fault}") for line in mend(run, SUITE, NAME)] == [True]
    assert read_status(run.status).state == "pending" and not run.save.exists()


def test_a_stopped_run_must_have_recorded_all_up_to_its_save(run: RunFolder) -> None:
    run.status.unlink()
    (run.save / "40" / "more").touch()
    whole = lines(run)
    run.evaluations.write_text("".join(whole[:-2]))
    told = f"{run.save}/40 is damaged (more is not as it was written); it goes on from the save of step 20"
    assert mend(run, SUITE, NAME) == [told]
    assert [path.name for path in run.save.iterdir()] == ["20"]
    run.evaluations.write_text("".join(whole[1:-2]))
    assert mend(run, SUITE, NAME) == ["its record lacks reach at step 0; it starts again from nothing"]
    assert not run.save.exists()


@pytest.mark.parametrize(
    ("lose", "fault"),
    [
        (lambda run: run.training.unlink(), "lacks step 10 in training.jsonl"),
        (
            lambda run: run.training.write_text(run.training.read_text().replace('"step": 30', '"stop": 30')),
            "lacks step 30 in",
        ),
        (lambda run: run.policy(20).rmdir(), "lacks .*policies/20"),
    ],
    ids=["statistics lost", "a key spoilt", "a policy lost"],
)
def test_a_stopped_run_that_lost_what_stands_beside_its_record_starts_again(
    run: RunFolder, lose: Callable[[RunFolder], object], fault: str
) -> None:
    lose(run)
    assert mend(run, SUITE, NAME) == []  # A finished run may be kept without them.
    run.status.unlink()
    (told,) = mend(run, SUITE, NAME)
    assert re.match(f"its record {fault}", told) and not run.save.exists()


def test_a_run_that_a_process_executes_is_left_alone(run: RunFolder) -> None:
    run.evaluations.unlink()
    with run.held():
        assert mend(run, SUITE, NAME) == []
    assert run.save.exists()

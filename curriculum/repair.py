"""What a run has lost is told, and made again from the newest save that can be gone on from: its bits are the same."""

import shutil
from pathlib import Path

from etude.curriculum.plan import RunName, plan_run
from etude.curriculum.records import read_evaluations
from etude.curriculum.saves import find_save
from etude.curriculum.status import read_status
from etude.curriculum.study import RunFolder
from etude.curriculum.suite import Suite


def mend(run: RunFolder, suite: Suite, name: RunName) -> list[str]:
    """Remove the damaged saves of a run; its status and all saves where its record is not what was planned up to them.

    Args:
        run: its folder; one that a process executes now is left alone.
        suite: of its study.
        name: which of its runs.

    Returns:
        What is wrong, a line a fault.

    Raises:
        RequestError: a line of the record is not an evaluation.
    """
    if run.is_held():
        return []
    checkpoints = plan_run(suite, name.group).checkpoints
    faults: list[str] = []
    if read_status(run.status).state == "done":
        step = checkpoints[-1].step
    else:
        save, faults = remove_damaged_saves(run)
        step = int(save.name) if save else -1
    planned = [(checkpoint.step, task) for checkpoint in checkpoints for task in checkpoint.tasks]
    wanted = [cell for cell in planned if cell[0] <= step]
    evaluations = read_evaluations(run.evaluations)
    found = [(e.step, e.task) for e in evaluations if e.step <= step]
    short = any(len(e.returns) != suite.evaluation.episodes for e in evaluations if e.step <= step)
    if found == wanted and not short:
        return faults
    run.status.unlink(missing_ok=True)
    shutil.rmtree(run.save, ignore_errors=True)
    lacking = [f"lacks {task} at step {step:,}" for step, task in wanted if (step, task) not in found]
    fault = next(iter(lacking), "is not what its suite asks for")
    return [*faults, f"its record {fault}; it starts again from nothing"]


def remove_damaged_saves(run: RunFolder) -> tuple[Path | None, list[str]]:
    """The save to go on from, and a line a damaged newer one, which is removed: nothing is lost but its time."""
    save, damaged = find_save(run.save)
    goes_on = f"goes on from the save of step {int(save.name):,}" if save else "starts again from nothing"
    for path in damaged:
        shutil.rmtree(path)
    return save, [f"{path} is damaged ({fault}); it {goes_on}" for path, fault in damaged.items()]

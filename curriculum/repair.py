"""What a run has lost is told, and made again from the newest save that can be gone on from: its bits are the same."""

from pathlib import Path

from etude.curriculum.plan import Plan, RunName, plan_run
from etude.curriculum.records import read_evaluations, read_training
from etude.curriculum.saves import find_save, remove
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
    plan = plan_run(suite, name.group)
    checkpoints = plan.checkpoints
    faults: list[str] = []
    done = read_status(run.status).state == "done"
    if done:
        step = checkpoints[-1].step
    else:
        save, faults = remove_damaged_saves(run)
        step = int(save.name) if save else -1
    planned = [(checkpoint.step, task) for checkpoint in checkpoints for task in checkpoint.tasks]
    wanted = [cell for cell in planned if cell[0] <= step]
    evaluations = read_evaluations(run.evaluations)
    found = [(e.step, e.task) for e in evaluations if e.step <= step]
    short = any(len(e.returns) != suite.evaluation.episodes for e in evaluations if e.step <= step)
    recorded = set(found)
    lacking = [f"lacks {task} at step {at:,}" for at, task in wanted if (at, task) not in recorded]
    if not done:  # A finished run may be kept without them.
        lacking += _lacking_beside(run, plan, step)
    if found == wanted and not short and not lacking:
        return faults
    remove(run.status)
    remove(run.save)
    fault = next(iter(lacking), "is not what its suite asks for")
    return [*faults, f"its record {fault}; it starts again from nothing"]


def _lacking_beside(run: RunFolder, plan: Plan, step: int) -> list[str]:
    """The policies and training statistics up to a step that are not there."""
    trained = {at for at, _ in read_training(run.training)}
    ends = {0, *(segment.end for segment in plan.segments)}
    policies = [f"lacks {run.policy(at)}" for at in sorted(ends) if at <= step and not run.policy(at).is_dir()]
    wanted = [checkpoint.step for checkpoint in plan.checkpoints if 0 < checkpoint.step <= step]
    return policies + [f"lacks step {at:,} in {run.training.name}" for at in wanted if at not in trained]


def remove_damaged_saves(run: RunFolder) -> tuple[Path | None, list[str]]:
    """The save to go on from, and a line a damaged newer one, which is removed: nothing is lost but its time."""
    save, damaged = find_save(run.save)
    goes_on = f"goes on from the save of step {int(save.name):,}" if save else "starts again from nothing"
    for path in damaged:
        remove(path)
    return save, [f"{path} is damaged ({fault}); it {goes_on}" for path, fault in damaged.items()]

"""A run whose record has lost something is forgotten, so that it starts again: its bits are the same."""

import shutil

from etude.curriculum.plan import RunName, plan_run
from etude.curriculum.records import read_evaluations
from etude.curriculum.saves import newest_save
from etude.curriculum.status import read_status
from etude.curriculum.study import RunFolder
from etude.curriculum.suite import Suite


def forget_where_broken(run: RunFolder, suite: Suite, name: RunName) -> str | None:
    """Remove a run's status and save where its record is not exactly what was planned up to them.

    Args:
        run: its folder; one that a process executes now is left alone.
        suite: of its study.
        name: which of its runs.

    Returns:
        What is wrong with the record, or None where it is whole.

    Raises:
        RequestError: a line of the record is not an evaluation.
    """
    checkpoints = plan_run(suite, name.group).checkpoints
    save = newest_save(run.save)
    step = int(save.name) if save else -1
    if read_status(run.status).state == "done":
        step = checkpoints[-1].step
    planned = [(checkpoint.step, task) for checkpoint in checkpoints for task in checkpoint.tasks]
    wanted = [cell for cell in planned if cell[0] <= step]
    evaluations = read_evaluations(run.evaluations)
    found = [(e.step, e.task) for e in evaluations if e.step <= step]
    short = any(len(e.returns) != suite.evaluation.episodes for e in evaluations if e.step <= step)
    if (found == wanted and not short) or run.is_held():
        return None
    run.status.unlink(missing_ok=True)
    shutil.rmtree(run.save, ignore_errors=True)
    lacking = [f"lacks {task} at step {step:,}" for step, task in wanted if (step, task) not in found]
    return next(iter(lacking), "is not what its suite asks for")

"""`etude import`: a study made of someone else's logs."""

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import ValidationError

from etude.curriculum.claim import check_folder
from etude.curriculum.faults import first_fault
from etude.curriculum.logs.continual_world import read_continual_world
from etude.curriculum.logs.l2logger import read_l2logger
from etude.curriculum.logs.log import Entry, Log, LoggedRun
from etude.curriculum.logs.tidy import read_tidy
from etude.curriculum.plan import RunName, groups_of, plan_run
from etude.curriculum.records import Evaluation, append_evaluations
from etude.curriculum.saves import write_folder, write_text
from etude.curriculum.status import Status, write_status
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite
from etude.envs.errors import RequestError, nearest
from etude.oracles.scores import SMALLEST_MARGIN

Format = Literal["tidy", "continual-world", "l2logger"]
FORMATS: tuple[Format, ...] = get_args(Format)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def import_log(
    path: Path,
    format: Format,
    out: Path,
    *,
    floor: Sequence[str] = (),
    oracle: Sequence[str] = (),
    untrained: float | None = None,
    episodes: int | None = None,
    column: str | None = None,
) -> Suite:
    """Make a study of a log: its records, suite.yaml, references.json, and import.json, which says what it is from.

    Args:
        path: file or folder of the log.
        format: what the log is.
        out: the study's folder, which must not be there.
        floor: what scores 0 in the log's own numbers: one for all tasks, or `task=number`; 0 if not given.
        oracle: what scores 100; 100 if not given.
        untrained: the untrained agent's score on every task, for logs without an evaluation at step 0.
        episodes: as the format's reader takes it; not of tidy tables.
        column: what is measured in an l2logger log.

    Returns:
        The study's suite.

    Raises:
        RequestError: the log is not what the format says, lacks an evaluation, or the folder is there already.
    """
    if out.exists():
        raise RequestError(f"{out}: is there already; choose another --out")
    check_folder(out)
    if not path.exists():
        raise RequestError(f"{path}: no such file or folder")
    if format != "l2logger" and column is not None:
        raise RequestError(f"--column: is of l2logger logs, not of {format}")
    if format == "tidy" and episodes is not None:
        raise RequestError("--episodes: is not of tidy tables, which have a row an episode")
    if untrained is not None and not isfinite(untrained):
        raise RequestError(f"--untrained: {untrained:g} is not finite")
    if format == "tidy":
        log = read_tidy(path)
    elif format == "continual-world":
        log = read_continual_world(path, episodes)
    else:
        log = read_l2logger(path, episodes, column)
    tasks, budget = _sequence(log.runs)
    anchors = _anchors(tasks, floor, oracle)
    runs = _named(log.runs, tasks)
    suite = _suite(out.name, log, tasks, budget, runs)
    records, notes = _records(log, suite, runs, anchors, untrained)
    said = {"format": format, "from": str(path.resolve()), "runs": {str(n): run.name for n, run in runs.items()}}
    said |= {"notes": [*log.notes, *notes], "anchors": {task: list(ends) for task, ends in anchors.items()}}

    def write(folder: Path) -> None:
        write_text(folder / "suite.yaml", suite.to_yaml())
        write_text(folder / "references.json", json.dumps(_references(suite, anchors, format)) + "\n")
        write_text(folder / "import.json", json.dumps(said, indent=2) + "\n")
        for name, evaluations in records.items():
            run = StudyFolder(folder).run(name)
            run.path.mkdir(parents=True)
            append_evaluations(run.evaluations, evaluations)
            last = evaluations[-1].step
            write_status(run.status, Status(state="done", step=last, of=last))

    out.parent.mkdir(parents=True, exist_ok=True)
    write_folder(out, write)
    return suite


def _sequence(runs: Sequence[LoggedRun]) -> tuple[tuple[str, ...], dict[str, int]]:
    """The tasks in order and their budgets, which all sequential runs share."""
    orders = {run.name: run.trained for run in runs if not run.group and len(run.trained) > 1}
    if not orders:
        raise RequestError("the log has no run that is trained on several tasks, one after another")
    (first, trained), *others = orders.items()
    for name, other in others:
        if other != trained:
            raise RequestError(f"{first} and {name} differ: {_told(trained)}, but {_told(other)}; import them apart")
    for task, _ in trained:
        if not _NAME.fullmatch(task):
            raise RequestError(
                f"task {task!r}: is not a plain name; use letters, digits, '-', '_' and '.', a letter or digit first"
            )
    begins = [0, *(end for _, end in trained)]
    return tuple(task for task, _ in trained), {
        task: end - begin for (task, end), begin in zip(trained, begins, strict=False)
    }


def _told(trained: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{task} until {end:,}" for task, end in trained)


def _anchors(tasks: Sequence[str], floor: Sequence[str], oracle: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Floor and oracle of every task, in the log's own numbers."""
    floors, oracles = _given(tasks, "--floor", floor, 0.0), _given(tasks, "--oracle", oracle, 100.0)
    for task in tasks:
        low, high = floors[task], oracles[task]
        if not high - low > SMALLEST_MARGIN * max(abs(low), abs(high)):
            raise RequestError(f"--oracle: {high:g} of {task} is not above its floor, {low:g}, by enough to divide by")
    return {task: (floors[task], oracles[task]) for task in tasks}


def _given(tasks: Sequence[str], option: str, values: Sequence[str], default: float) -> dict[str, float]:
    found = dict.fromkeys(tasks, default)
    for value in sorted(values, key=lambda value: "=" in value):
        task, named, number = value.rpartition("=")
        try:
            given = float(number if task or not named else "")
        except ValueError:
            raise RequestError(f"{option}: {value!r} is neither a number nor task=number") from None
        if not isfinite(given):
            raise RequestError(f"{option}: {value} is not finite")
        if task and task not in found:
            raise RequestError(f"{option}: there is no task {task}; {nearest(task, tasks)}")
        found |= {task: given} if task else dict.fromkeys(tasks, given)
    return found


def _named(runs: Sequence[LoggedRun], tasks: Sequence[str]) -> dict[RunName, LoggedRun]:
    """The runs by what they are called in a study."""
    named: dict[RunName, LoggedRun] = {}
    for run in runs:
        group = run.group
        if not group and len(run.trained) > 1:
            group = "sequential"
        elif not group:
            if not run.trained or run.trained[0][0] not in tasks:
                alone = run.trained[0][0] if run.trained else "nothing"
                raise RequestError(f"{run.name}: is trained on {alone} alone, which is none of {', '.join(tasks)}")
            task = run.trained[0][0]
            group = "scratch" if task == tasks[-1] else f"isolated-{task}"
        name = RunName(group, run.seed)
        if name in named:
            raise RequestError(f"{named[name].name} and {run.name}: both are {group} with seed {run.seed}")
        named[name] = run
    return named


def _suite(name: str, log: Log, tasks: Sequence[str], budget: Mapping[str, int], runs: Mapping[RunName, Any]) -> Suite:
    """The suite whose checkpoints are those of the sequential runs."""
    if not _NAME.fullmatch(name):
        raise RequestError(f"--out: {name} is not a plain name; use letters, digits, '-', '_' and '.'")
    sequential = {run.name for group, run in runs.items() if group.group == "sequential"}
    steps = {entry.step for entry in log.entries if entry.run in sequential}
    begin, offsets = 0, set()
    for task in tasks:
        offsets |= {step - begin for step in steps if begin < step < begin + budget[task]}
        begin += budget[task]
    longest = max(budget.values())
    grids = (step for step in sorted(offsets) if all(multiple in offsets for multiple in range(step, longest, step)))
    every = next(grids, longest)
    also = sorted(offset for offset in offsets if offset % every)
    used = {group.group for group in runs}
    wanted: list[str] = [group for group in ("sequential", "scratch", "joint", "scratch-total") if group in used]
    if any(group.startswith("isolated-") for group in used):
        wanted.append("isolated")
    episodes = {len(entry.returns) for entry in log.entries}
    if len(episodes) > 1:
        first = next(entry for entry in log.entries if len(entry.returns) != len(log.entries[0].returns))
        raise RequestError(
            f"{first.where}: {first.task} at step {first.step} has {len(first.returns)} episodes, but "
            f"{len(log.entries[0].returns)} stand at {log.entries[0].where}; every evaluation must have as many"
        )
    settings = {
        "name": name,
        "tasks": list(tasks),
        "budget": dict(budget),
        "seeds": sorted({group.seed for group in runs}),
        "regimes": wanted,
        "evaluation": {"every": every, "episodes": episodes.pop(), "also": also},
        "agent": {"algorithm": log.agent, "environments": 1},
        "method": log.method,
        "wandb": {"mode": "disabled"},
    }
    try:
        return Suite.model_validate(settings)
    except ValidationError as error:
        raise RequestError(f"the log as a suite: {first_fault(error, Suite, settings)}") from None


def _records(
    log: Log,
    suite: Suite,
    runs: Mapping[RunName, LoggedRun],
    anchors: Mapping[str, tuple[float, float]],
    untrained: float | None,
) -> tuple[dict[RunName, list[Evaluation]], list[str]]:
    """Every run's evaluations in the plan's order, and what was left out or filled in."""
    entries: dict[tuple[str, int, str], Entry] = {}
    for entry in log.entries:
        key = (entry.run, entry.step, entry.task)
        if key in entries:
            raise RequestError(
                f"{entry.where}: {entry.task} at step {entry.step} stands at {entries[key].where} already"
            )
        entries[key] = entry
    records: dict[RunName, list[Evaluation]] = {}
    known = {*suite.regimes, *(group for regime in suite.regimes for group in groups_of(suite, regime))}
    used = filled = 0
    for name, run in runs.items():
        assert name.group in known
        evaluations = []
        for checkpoint in plan_run(suite, name.group).checkpoints:
            for task in checkpoint.tasks:
                found = entries.get((run.name, checkpoint.step, task))
                if found is not None:
                    used += 1
                    values = (found.returns, found.successes, found.lengths)
                elif checkpoint.step == 0 and untrained is not None:
                    filled += 1
                    values = _untrained(untrained, anchors[task], suite.evaluation.episodes)
                else:
                    raise RequestError(_missing(run, checkpoint.step, task))
                evaluations.append(Evaluation(checkpoint.step, task, *values))
        records[name] = evaluations
    notes = []
    if filled:
        notes.append(f"The log has no evaluation at step 0: the untrained agent's score was given as {untrained:g}.")
    if used < len(entries):
        notes.append(
            f"{len(entries) - used:,} of {len(entries):,} evaluations were left out: of tasks not yet begun between "
            "the ends of the tasks, or past a run's budget."
        )
    return records, notes


def _untrained(score: float, ends: tuple[float, float], episodes: int) -> tuple[Any, Any, Any]:
    value = ends[0] + score / 100 * (ends[1] - ends[0])
    return (value,) * episodes, (False,) * episodes, (0,) * episodes


def _missing(run: LoggedRun, step: int, task: str) -> str:
    if step == 0:
        return (
            f"{run.name}: has no evaluation of {task} at step 0, the untrained agent; "
            "--untrained 0 takes its score for 0 on every task"
        )
    return f"{run.name}: has no evaluation of {task} at step {step:,}, where the other tasks or runs have one"


def _references(suite: Suite, anchors: Mapping[str, tuple[float, float]], format: Format) -> dict[str, Any]:
    """References whose scores are the log's own between floor and oracle."""
    count = suite.evaluation.episodes

    def policy(value: float, success: bool) -> dict[str, Any]:
        return {"returns": [value] * count, "successes": [success] * count, "lengths": [0] * count}

    return {
        task: {
            "fingerprint": {"task": task, "sources": f"{low:g} to {high:g}, {format}", "episodes": count},
            "oracle": policy(high, True),
            "random": policy(low, False),
            "zero": policy(low, False),
        }
        for task, (low, high) in anchors.items()
    }

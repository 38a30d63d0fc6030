"""Logs of Continual World: `progress.tsv` of each run, or the same columns as a W&B run's history has them in CSV."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from etude.curriculum.logs.log import Entry, Fields, Log, LoggedRun, read_lines
from etude.envs.errors import RequestError

EPISODES = 10
"""Continual World evaluates the stochastic policy on so many episodes unless told otherwise."""

_SUCCESS = re.compile(r"test/stochastic/(\d+)/(.+)/success")


def read_continual_world(path: Path, episodes: int | None = None) -> Log:
    """A run's progress.tsv or .csv, its folder, or any folder above the folders of several runs.

    Scores are success rates in percent. A run of one task is an isolated or the scratch run of that task.

    Args:
        path: file or folder.
        episodes: that each success rate is of; 10 if not given.

    Raises:
        RequestError: there is no run, runs are of several methods, a column is missing, or a cell is wrong: the line
            says where.
    """
    files = sorted(path.rglob("progress.tsv")) if path.is_dir() else [path]
    if not files:
        raise RequestError(f"{path}: holds no progress.tsv")
    count = episodes or EPISODES
    log = Log(agent="SAC")
    log.notes.append(
        f"Scores are success rates in percent of {count} episodes, of the stochastic policy; which of them succeeded "
        "is not in the log, so intervals over episodes say nothing: trust the range over seeds."
    )
    taken: dict[str, int] = {}
    methods: dict[str, Path] = {}
    for file in files:
        config = _config(file)
        lines = [fields for fields in read_lines(file, "\t" if file.suffix == ".tsv" else ",") if _evaluated(fields)]
        if not lines:
            raise RequestError(f"{file}: has no line with a column test/stochastic/<number>/<task>/success")
        names = _names(lines[0].cells)
        trained = _trained(lines, names)
        kind = " ".join(task for task, _ in trained)
        told = Fields(config, str(file.with_name("config.json"))) if "seed" in config else lines[0]
        seed = told.whole("seed") if told.cells.get("seed") not in (None, "") else taken.get(kind, 0)
        taken[kind] = taken.get(kind, 0) + 1
        log.runs.append(LoggedRun(str(file), seed, trained))
        log.entries += [entry for fields in lines for entry in _entries(file, fields, names, count)]
        if len(trained) > 1:
            methods.setdefault(str(config.get("cl_method") or "finetuning"), file)
    if len(methods) > 1:
        where = ", ".join(f"{method} in {file}" for method, file in methods.items())
        raise RequestError(f"{path}: runs of several methods, {where}; import those of each method apart")
    log.method = next(iter(methods), log.method)
    return log


def _entries(file: Path, fields: Fields, names: Mapping[str, str], episodes: int) -> list[Entry]:
    entries = []
    for column, task in names.items():
        rate = fields.number(column)
        succeeded = round(rate * episodes)
        if not 0 <= rate <= 1 or abs(rate * episodes - succeeded) > 1e-4:
            raise fields.fault(
                column, f"{rate:g} is no share of {episodes} episodes; --episodes says how many there are"
            )
        length = column.removesuffix("success") + "ep_length"
        steps = round(fields.number(length)) if fields.cells.get(length) not in (None, "") else 0
        won = [place < succeeded for place in range(episodes)]
        returns = tuple(100.0 * success for success in won)
        step = fields.whole("total_env_steps")
        entries.append(Entry(str(file), step, task, returns, tuple(won), (steps,) * episodes, fields.where))
    return entries


def _trained(lines: Sequence[Fields], names: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    """The tasks in order, each with the step at which its training ends, which must be that of an evaluation."""
    tasks = list(names.values())
    if len(tasks) == 1:
        return ((tasks[0], lines[-1].whole("total_env_steps")),)
    ends: dict[int, int] = {}
    for fields in lines:
        step, own, active = (fields.whole(c) for c in ("total_env_steps", "current_task_steps", "train/active_env"))
        if active >= len(tasks):
            raise fields.fault("train/active_env", f"{active} is no task; there are {len(tasks)}")
        begin = max((end for task, end in ends.items() if task < active), default=0)
        if step - own != begin:
            raise fields.fault(
                "current_task_steps", f"{own} at step {step}: training on {tasks[active]} began at {step - own}, "
                f"but the last evaluation before is at {begin}; evaluations must fall on the ends of the tasks"
            )  # fmt: skip
        ends[active] = step
    return tuple((tasks[active], end) for active, end in sorted(ends.items()))


def _names(cells: Mapping[str, Any]) -> dict[str, str]:
    """The success columns and their tasks, in the order of their numbers; a name that comes again gets a number."""
    found = sorted((int(match[1]), column, match[2]) for column in cells if (match := _SUCCESS.fullmatch(column)))
    names: dict[str, str] = {}
    for _, column, task in found:
        again = sum(name == task or name.startswith(f"{task}-again") for name in names.values())
        names[column] = f"{task}-again{again if again > 1 else ''}" if again else task
    return names


def _evaluated(fields: Fields) -> bool:
    """Whether a line has evaluations: W&B's history also has lines without."""
    return any(cell not in (None, "") and _SUCCESS.fullmatch(column) for column, cell in fields.cells.items())


def _config(file: Path) -> dict[str, Any]:
    path = file.with_name("config.json")
    try:
        config = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RequestError(f"{path}: cannot be read ({error})") from None
    if not isinstance(config, dict):
        raise RequestError(f'{path}: must hold a mapping from keys to values, as in {{"seed": 0}}')
    return config

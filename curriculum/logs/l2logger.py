"""Logs of l2logger: scenario folders with logger_info.json and a data-log.tsv in each worker's block folders."""

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from etude.curriculum.logs.log import NO_SUCCESS, Entry, Fields, Log, LoggedRun, read_lines
from etude.envs.errors import RequestError

NEEDED = ("block_num", "exp_num", "block_type", "task_name", "exp_status")


def read_l2logger(path: Path, episodes: int | None = None, column: str | None = None) -> Log:
    """A scenario folder, or a folder of several, each of which becomes a seed.

    A step is a training experience. What is trained stands in `train` blocks, evaluations in `test` blocks.

    Args:
        path: the folder.
        episodes: the first so many experiences of a task in a test block count; all, if not given.
        column: what is measured; the first of the logger's `metrics_columns` if not given.

    Raises:
        RequestError: there is no scenario, a column is missing, a test block has fewer than `episodes` experiences of a
            task, or a cell is wrong: the line says where.
    """
    folders = sorted(file.parent for file in path.rglob("logger_info.json"))
    if not folders:
        raise RequestError(f"{path}: holds no logger_info.json")
    log = Log()
    taken: dict[str, int] = {}
    dropped, success = 0, True
    for folder in folders:
        measured = column or _measured(folder)
        files = sorted(folder.rglob("data-log.tsv"))
        if not files:
            raise RequestError(f"{folder}: holds no data-log.tsv")
        lines = [fields for file in files for fields in read_lines(file, "\t", (*NEEDED, measured))]
        whole = [
            f for f in lines if f.cells.get("block_subtype", "wake") == "wake" and f.text("exp_status") == "complete"
        ]
        dropped += len(lines) - len(whole)
        success &= all("success" in fields.cells for fields in whole)
        whole.sort(key=lambda fields: (fields.whole("block_num"), fields.whole("exp_num")))
        trained, entries = _blocks(str(folder), whole, measured, episodes)
        kind = " ".join(task for task, _ in trained)
        log.runs.append(LoggedRun(str(folder), taken.get(kind, 0), trained))
        log.entries += entries
        taken[kind] = taken.get(kind, 0) + 1
    log.notes.append("A step is a training experience; a run's seed is its place among the folders.")
    if not success:
        log.notes.append(NO_SUCCESS)
    if dropped:
        log.notes.append(f"{dropped:,} experiences that were incomplete or of a sleep block were left out.")
    return log


def _blocks(
    run: str, lines: list[Fields], measured: str, episodes: int | None
) -> tuple[tuple[tuple[str, int], ...], list[Entry]]:
    """What was trained up to which step, and the evaluations."""
    trained: list[tuple[str, int]] = []
    entries: list[Entry] = []
    step = 0
    for _, block in groupby(lines, key=lambda fields: (fields.whole("block_num"), fields.text("block_type"))):
        own = list(block)
        kind = own[0].text("block_type")
        if kind not in ("train", "test"):
            raise own[0].fault("block_type", f"{kind!r} is neither train nor test")
        for task, some in groupby(sorted(own, key=_task) if kind == "test" else own, key=_task):
            experiences = list(some)
            if kind == "train":
                step += len(experiences)
                if trained and trained[-1][0] == task:
                    trained.pop()
                elif task in dict(trained):
                    raise experiences[0].fault(
                        "task_name", f"{task!r} is trained a second time; a task is trained once"
                    )
                trained.append((task, step))
            else:
                if episodes is not None and len(experiences) < episodes:
                    told = f"--episodes {episodes}, but this block has {len(experiences)} of {task}"
                    raise RequestError(f"{experiences[0].where}: {told}")
                entries.append(_entry(run, step, task, experiences[:episodes], measured))
    return tuple(trained), entries


def _entry(run: str, step: int, task: str, experiences: list[Fields], measured: str) -> Entry:
    succeeded = tuple(bool(fields.cells.get("success")) and fields.truth("success") for fields in experiences)
    returns = tuple(fields.number(measured) for fields in experiences)
    return Entry(run, step, task, returns, succeeded, (0,) * len(returns), experiences[0].where)


def _task(fields: Fields) -> str:
    return fields.text("task_name").lower()


def _measured(folder: Path) -> str:
    path = folder / "logger_info.json"
    try:
        columns: Any = json.loads(path.read_bytes())["metrics_columns"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RequestError(f"{path}: has no metrics_columns ({type(error).__name__}: {error})") from None
    names = [columns] if isinstance(columns, str) else columns
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise RequestError(f"{path}: metrics_columns is {columns!r:.60}, must be a list of the columns' names")
    return str(names[0])

"""Tidy tables as `etude export` writes them, and simpler ones: a row an episode, or a row a mean."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from etude.curriculum.logs.log import NO_SUCCESS, Entry, Fields, Log, LoggedRun, check_columns, read_lines
from etude.envs.errors import RequestError

NEEDED = ("step", "task", "training")
VALUES = ("score", "return", "success")
LEFT_OUT = ("leave-one-out",)


def read_tidy(path: Path) -> Log:
    """A .csv, .tsv or .parquet file; docs/import.md says which columns it has.

    Raises:
        RequestError: a column is missing, there are several studies, or a cell is wrong: the line says where.
    """
    log, study = Log(), ""
    cells: dict[tuple[str, int, str], list[tuple[float, bool, int]]] = {}
    places: dict[tuple[str, int, str], str] = {}
    runs: dict[str, tuple[str, int]] = {}
    trained: dict[str, dict[str, int]] = {}
    episodes_seen: dict[tuple[str, int, str], set[int]] = {}
    skipped, successes_told = 0, False
    for fields in _lines(path):
        own = fields.text("study") if _has(fields, "study") else ""
        study = study or own
        if own != study:
            raise fields.fault("study", f"is {own!r}, before it {study!r}; import one study at a time")
        group = _group(fields)
        if group is None:
            skipped += 1
            continue
        seed = fields.whole("seed") if _has(fields, "seed") else 0
        name, step, task = f"{group}-seed{seed}", fields.whole("step"), fields.text("task")
        runs[name] = group, seed
        if _has(fields, "episode"):
            seen = episodes_seen.setdefault((name, step, task), set())
            if (episode := fields.whole("episode")) in seen:
                raise fields.fault("episode", f"{episode} of {task} at step {step} of {name} is there twice")
            seen.add(episode)
        successes_told |= _has(fields, "success")
        cells.setdefault((name, step, task), []).append(_values(fields))
        places.setdefault((name, step, task), fields.where)
        if step:
            ends = trained.setdefault(name, {})
            ends[fields.text("training")] = max(step, ends.get(fields.text("training"), 0))
        for key in ("agent", "method"):
            if _has(fields, key):
                setattr(log, key, fields.text(key))
    for name, (group, seed) in runs.items():
        order = tuple(sorted(trained.get(name, {}).items(), key=lambda item: item[1]))
        if len(order) > 1 and group not in ("sequential", "joint", "scratch-total"):
            tasks, kind = ", ".join(task for task, _ in order), group.partition("-")[0]
            raise RequestError(f"{path}: {name} is trained on {tasks}; a run of regime {kind} has one training")
        log.runs.append(LoggedRun(name, seed, order, group if group in ("joint", "scratch-total") else ""))
    for (name, step, task), episodes in cells.items():
        returns, successes, lengths = zip(*episodes, strict=True)
        log.entries.append(Entry(name, step, task, returns, successes, lengths, places[name, step, task]))
    if not successes_told:
        log.notes.append(NO_SUCCESS)
    if skipped:
        log.notes.append(f"{skipped:,} rows of further orders and of leave-one-out runs were left out.")
    return log


def _lines(path: Path) -> Iterator[Fields]:
    if path.suffix in (".csv", ".tsv"):
        lines = read_lines(path, "," if path.suffix == ".csv" else "\t", NEEDED)
    elif path.suffix == ".parquet":
        lines = _parquet(path)
    else:
        raise RequestError(f"{path}: a tidy table is a .csv, .tsv or .parquet file")
    for number, fields in enumerate(lines):
        if number == 0 and not any(column in fields.cells for column in VALUES):
            raise RequestError(f"{path}, line 1: there is none of the columns {', '.join(VALUES)}")
        yield fields


def _parquet(path: Path) -> Iterator[Fields]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise RequestError(f"{path}: Parquet needs pyarrow: pip install pyarrow; or give a .csv file") from None
    number = 0
    try:
        file = parquet.ParquetFile(path)
        check_columns(path, file.schema_arrow.names, NEEDED)
        for batch in file.iter_batches():
            for row in batch.to_pylist():
                number += 1
                yield Fields(row, f"{path}, row {number}")
    except (OSError, UnicodeDecodeError, pyarrow.ArrowException) as error:
        raise RequestError(f"{path}: not a Parquet file ({error})") from error


def _group(fields: Fields) -> str | None:
    """The group of runs; None of one that is left out."""
    regime = fields.text("regime") if _has(fields, "regime") else "sequential"
    if regime in LEFT_OUT or (_has(fields, "order") and fields.whole("order") > 1):
        return None
    if regime in ("sequential", "scratch", "joint", "scratch-total"):
        return regime
    if regime == "isolated":
        return f"isolated-{fields.text('alone') if _has(fields, 'alone') else fields.text('task')}"
    raise fields.fault("regime", f"{regime!r} is not one of sequential, scratch, isolated, joint, scratch-total")


def _values(fields: Fields) -> tuple[float, bool, int]:
    """Return, success and length of a row: the score if there is one, else the return, else 100 for a success."""
    success = _has(fields, "success")
    succeeded = fields.truth("success") if success else False
    length = fields.whole("length") if _has(fields, "length") else 0
    for column in ("score", "return"):
        if _has(fields, column):
            return fields.number(column), succeeded, length
    if not success:
        raise fields.fault("score", "is empty, and so are return and success")
    return 100.0 * succeeded, succeeded, length


def _has(fields: Fields, column: str) -> bool:
    cell: Any = fields.cells.get(column)
    return cell is not None and str(cell).strip() != ""

"""Studies as one tidy table, a row an evaluation episode, for whatever reads Parquet or CSV."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from etude.curriculum.metrics.curves import Reference, read_references
from etude.curriculum.plan import RunName, plan_run, run_names
from etude.curriculum.records import read_evaluations
from etude.curriculum.saves import try_file, write_file
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite, read_suite
from etude.envs.errors import RequestError

COLUMNS = {
    "study": "string",
    "regime": "string",
    "order": "int32",
    "alone": "string",
    "left_out": "string",
    "seed": "int64",
    "step": "int64",
    "training": "string",
    "task": "string",
    "episode": "int32",
    "return": "double",
    "score": "double",
    "success": "bool",
    "length": "int32",
    "method": "string",
    "agent": "string",
}
"""Name and Arrow type; docs/export.md says what each holds."""

Batch = dict[str, list[Any]]


def export_episodes(studies: Sequence[Path], to: Path) -> int:
    """Write every evaluation episode of studies; the file is written aside and replaces what is there.

    Args:
        studies: their folders.
        to: a .parquet or .csv file.

    Returns:
        How many episodes there are.

    Raises:
        RequestError: the suffix is another, pyarrow is missing, two studies have one name, a record cannot be read,
            or the file cannot be written there.
    """
    writers = {".parquet": _write_parquet, ".csv": _write_csv}
    if to.suffix not in writers:
        raise RequestError(f"--to: {to} ends in neither .parquet nor .csv")
    names = [study.resolve().name for study in studies]
    for name in names:
        if names.count(name) > 1:
            raise RequestError(f"{name}: two of the studies have this name, which tells their rows apart; rename one")
    counted = 0

    def batches() -> Iterator[Batch]:
        nonlocal counted
        for study in studies:
            for batch in _batches(study):
                counted += len(batch["episode"])
                yield batch

    try:
        if to.is_dir():
            raise RequestError(f"--to: {to} is a folder; name a file")
        to.parent.mkdir(parents=True, exist_ok=True)
        try_file(to)
    except OSError as error:
        raise RequestError(f"--to: {to} cannot be written ({error.strerror}); name another place") from error
    write_file(to, lambda path: writers[to.suffix](path, batches()))
    return counted


def _batches(study: Path) -> Iterator[Batch]:
    """The rows of each run, as columns."""
    suite = read_suite(study)
    folder = StudyFolder(study)
    references = read_references(study, suite) if folder.references.exists() else {}
    for name in run_names(suite):
        batch: Batch = {column: [] for column in COLUMNS}
        run = _run_columns(study, suite, name)
        segments = plan_run(suite, name.group).segments
        for evaluation in read_evaluations(folder.run(name).evaluations):
            count = len(evaluation.returns)
            scores = _scores(evaluation.returns, references.get(evaluation.task))
            trained = next((s.task for s in segments if s.start < evaluation.step <= s.end), None)
            values = run | {"step": evaluation.step, "training": trained, "task": evaluation.task}
            for column, value in values.items():
                batch[column] += [value] * count
            batch["episode"] += range(count)
            batch["return"] += evaluation.returns
            batch["score"] += scores
            batch["success"] += evaluation.successes
            batch["length"] += evaluation.lengths
        if batch["episode"]:
            yield batch


def _run_columns(study: Path, suite: Suite, name: RunName) -> dict[str, Any]:
    """What is the same in all rows of a run."""
    group = name.group
    columns: dict[str, Any] = {"study": study.resolve().name, "regime": group, "seed": name.seed}
    columns |= {"order": None, "alone": None, "left_out": None}
    if group == "sequential":
        columns["order"] = 1
    elif group.startswith("sequential-order"):
        columns |= {"regime": "sequential", "order": int(group.removeprefix("sequential-order"))}
    elif group.startswith("sequential-without-"):
        columns |= {"regime": "leave-one-out", "left_out": group.removeprefix("sequential-without-")}
    elif group.startswith("isolated-"):
        columns |= {"regime": "isolated", "alone": group.removeprefix("isolated-")}
    elif group in ("scratch", "scratch-total"):
        columns["alone"] = suite.composition
    return columns | {"method": suite.method, "agent": suite.agent.algorithm}


def _scores(returns: Sequence[float], reference: Reference | None) -> list[float | None]:
    if reference is None:
        return [None] * len(returns)
    oracle, floor = float(reference.oracle.mean()), max(float(each.mean()) for each in reference.floors)
    return [100 * (value - floor) / (oracle - floor) for value in returns]


def _write_csv(path: Path, batches: Iterator[Batch]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for batch in batches:
            batch["success"] = ["true" if success else "false" for success in batch["success"]]
            writer.writerows(zip(*batch.values(), strict=True))


def _write_parquet(path: Path, batches: Iterator[Batch]) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise RequestError("--to: Parquet needs pyarrow: pip install pyarrow; or write a .csv file") from None
    schema = pyarrow.schema(list(COLUMNS.items()))
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_table(pyarrow.table(batch, schema=schema))

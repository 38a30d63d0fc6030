"""How far the runs of a study are, as `etude status` shows it."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from etude.curriculum.launch.display import clock

Rows = Sequence[Mapping[str, Any]]


def print_standing(found: Mapping[str, Any], console: Console) -> None:
    """Print a line a run, and below why some stand where they do.

    Where the runs' names leave no room for more, the share of the steps stands for them, and the task for the state.

    Args:
        found: what `study_status` returned.
        console: where to print.
    """
    rows = found["runs"]
    table = _table(rows, brief=False)
    natural = Measurement.get(console, console.options.update(max_width=1_000), table)
    console.print(_table(rows, brief=True) if natural.maximum > console.width else table)
    for row in rows:
        if _reason(row):
            console.print(f"{row['run']}: {_reason(row)}", highlight=False, markup=False, soft_wrap=True)
    if any(_stopped(row) for row in rows):
        console.print("What was stopped goes on when the study's command is given again.")


def _table(rows: Rows, brief: bool) -> Table:
    headings = ("run", "state", ">steps", "task", ">score", ">left")
    columns: dict[str, list[str]] = {heading: [] for heading in headings}
    for row in rows:
        state = "stopped" if _stopped(row) else row["state"]
        cells = (
            row["run"],
            row["task"] or state if brief and state == "running" else state,
            f"{row['step'] / row['steps']:.0%}" if brief else f"{row['step']:,} of {row['steps']:,}",
            "" if brief else row["task"] or "",
            "" if row["score"] is None else f"{row['score']:z.1f}",
            "" if row["seconds_left"] is None else clock(row["seconds_left"]),
        )
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
    filled = {heading: cells for heading, cells in columns.items() if any(cells)}
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for heading in filled:
        table.add_column(heading.lstrip(">"), justify="right" if heading.startswith(">") else "left")
    for line in zip(*filled.values(), strict=True):
        table.add_row(*map(Text, line))
    return table


def _stopped(row: Mapping[str, Any]) -> bool:
    return row["state"] == "pending" and row["lost"] is not None and not row["job"]


def _reason(row: Mapping[str, Any]) -> str:
    if row["state"] == "pending" and row["job"]:
        return str(row["job"])
    if _stopped(row) and not row["lost"]:
        return ""
    return row["reason"] or ("" if row["exact"] else "resumed, but not exactly")

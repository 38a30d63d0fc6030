"""All metrics of a study: as tables for a terminal, and as rows of CSV for other programs."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from etude.curriculum.metrics.bootstrap import ENOUGH_SEEDS

ARROWS = {"higher": "↑", "lower": "↓", "none": ""}
COLUMNS = ("metric", "tier", "direction", "row", "column", "seed", "value", "low", "high", "reason")


def print_numbers(console: Console, metrics: Mapping[str, Any]) -> None:
    """Print every metric: single numbers in one table, then what is undefined and why, then curves and matrices.

    Args:
        console: where to print.
        metrics: what `compute_metrics` returned.
    """
    defined = {name: m for name, m in metrics["metrics"].items() if m["value"] is not None}
    single = {name: m for name, m in defined.items() if isinstance(m["value"], int | float)}
    if single:
        console.print(_single(single), crop=False)
    for name, metric in defined.items():
        if name not in single:
            _print_array(console, name, metric)
    reasons: dict[str, list[str]] = {}
    for name, metric in metrics["metrics"].items():
        if metric["value"] is None:
            reasons.setdefault(metric["reason"], []).append(name)
    if reasons:
        console.print("[bold]Undefined[/]")
    for reason, names in reasons.items():
        console.print(f"{escape(', '.join(names))}: {escape(reason)}", highlight=False)
    if reasons:
        console.print()


def write_csv(file: TextIO, metrics: Mapping[str, Any]) -> None:
    """Write a row a number: of the average over the seeds (`seed` empty, its interval beside it), and of each seed.

    An array has a row an entry, with its labels under `row` and `column`; an undefined metric has one row, with the
    reason.
    """
    writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for name, metric in metrics["metrics"].items():
        common = {"metric": name, "tier": metric["tier"], "direction": metric["direction"]}
        if metric["value"] is None:
            writer.writerow(common | {"reason": metric["reason"]})
            continue
        interval = metric["interval"] or {}
        for seed, value in (("", metric["value"]), *metric["per_seed"].items()):
            ends = {end: interval.get(end, "") for end in ("low", "high")} if seed == "" else {}
            for row, column, number in _entries(value, metric["labels"]):
                cell = "" if number is None else number
                writer.writerow(common | {"row": row, "column": column, "seed": seed, "value": cell} | ends)


def _single(metrics: Mapping[str, Any]) -> Table:
    few = any(len(metric["seeds"]["counted"]) < ENOUGH_SEEDS for metric in metrics.values())
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    table.add_column("")
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("range over seeds" if few else "95% interval", justify="right")  # gives way where there is no room
    table.add_column("seeds", justify="right", no_wrap=True)
    for name, metric in metrics.items():
        counted = len(metric["seeds"]["counted"])
        spread = (metric["range"] if counted > 1 else None) if few else metric["interval"]
        table.add_row(
            escape(name),
            ARROWS[metric["direction"]],
            shown(metric["value"]),
            "" if spread is None else f"{shown(spread['low'])} to {shown(spread['high'])}",
            f"{counted} of {len(metric['seeds']['planned'])}",
        )
    return table


def _print_array(console: Console, name: str, metric: Mapping[str, Any]) -> None:
    value, labels = metric["value"], metric["labels"] or []
    if not isinstance(value[0], list):
        value, labels = [value], [[""], *labels]
    rows = labels[0] if labels else [str(place) for place in range(1, len(value) + 1)]
    columns = labels[1] if len(labels) > 1 else [str(place) for place in range(1, len(value[0]) + 1)]
    if isinstance(value[0][0], list):
        console.print(f"[bold]{escape(name)}[/]: {len(labels) or 3} axes, see metrics.json", highlight=False)
        return
    width = max(map(len, rows)) + sum(max(7, len(column) + 2) for column in columns)
    numbered = width > console.width
    table = Table(box=box.SIMPLE_HEAD, title=escape(name), title_justify="left", title_style="bold", pad_edge=False)
    table.add_column("", overflow="fold")
    for place, column in enumerate(columns, 1):
        table.add_column(str(place) if numbered else escape(column), justify="right", no_wrap=True)
    for label, numbers in zip(rows, value, strict=True):
        table.add_row(escape(label), *("" if number is None else shown(number) for number in numbers))
    console.print(table, crop=False)
    if numbered:
        named = ", ".join(f"{place} {column}" for place, column in enumerate(columns, 1))
        console.print(f"columns: {escape(named)}\n", highlight=False)


def shown(value: float) -> str:
    """A number as the table has it: 3 or 4 digits that count, thousands set apart."""
    if abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.3g}"
    return f"{value:z.1f}" if abs(value) >= 10 else f"{value:z.2f}"


def _entries(
    value: Any, labels: Sequence[Sequence[str]] | None, place: tuple[str, ...] = ()
) -> Iterator[tuple[Any, ...]]:
    """Every number of an array with its row and column; those of further axes are joined to the column."""
    if not isinstance(value, list):
        row, *rest = place or ("",)
        yield row, "/".join(rest), value
        return
    depth = len(place)
    names = labels[depth] if labels and len(labels) > depth else [str(at) for at in range(1, len(value) + 1)]
    for name, item in zip(names, value, strict=True):
        yield from _entries(item, labels, (*place, name))

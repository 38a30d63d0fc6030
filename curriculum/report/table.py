"""The table at a study's end: each task, BWT and FWT, what they mean in words, and where the files are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from etude.curriculum.metrics.bootstrap import ENOUGH_SEEDS
from etude.curriculum.metrics.compute import compute_metrics
from etude.curriculum.plan import JOINT
from etude.curriculum.report.words import NO_VALUE, counted, explain, nothing_measured

USUAL_WIDTH = 80
FILES = ("metrics*.json", "figures/*.png", "figures/*.pdf", "wandb")


def print_table(study: Path, console: Console, metrics: Mapping[str, Any] | None = None) -> None:
    """Print what was measured of a study; every number with the seeds it counts, what is undefined with its reason.

    Args:
        study: its folder.
        console: where to print.
        metrics: what `compute_metrics` returned; computed if not given.
    """
    metrics = compute_metrics(study) if metrics is None else metrics
    if metrics["tasks"]:
        _print_whole(console, _tasks(metrics))
    else:
        console.print(nothing_measured(metrics), highlight=False)
    if any(metric["value"] is not None for _, _, metric in _rows(metrics)):
        _print_whole(console, _headline(metrics))
    others = _others(metrics)
    if others.row_count:
        _print_whole(console, others)
    for line in explain(metrics):
        console.print(f"{escape(line)}", highlight=False)
    for warning in metrics["warnings"]:
        console.print(f"[yellow]warning:[/] {escape(warning)}", highlight=False)
    console.print()
    console.print(f"files in {escape(str(study))}: {', '.join(_files(study))}", highlight=False)


def _print_whole(console: Console, table: Table) -> None:
    """Print a table as on the usual 80 columns where there are fewer: lines that run over lose no number."""
    if console.width < USUAL_WIDTH:
        options = console.options.update(max_width=USUAL_WIDTH)
        table.width = Measurement.get(console, options, table).maximum
    console.print(table, crop=False)


def _tasks(metrics: Mapping[str, Any]) -> Table:
    of = metrics["of"]
    table = Table(
        title=escape(f"{metrics['study']}, {counted(metrics['regimes']['sequential']['seeds'])}"),
        box=box.SIMPLE_HEAD,
        title_justify="left",
        title_style="bold",
    )
    table.add_column("task", overflow="fold")
    for heading in ("C_i", "success\nat own end", f"final\n{of}", "final\nsuccess", "D_i\n(at most)"):
        table.add_column(heading, justify="right", no_wrap=True)
    for task, entry in metrics["tasks"].items():
        table.add_row(
            escape(task),
            f"{entry['C']:z.1f}",
            f"{entry['success_at_end']:.0%}",
            f"{entry['final']:z.1f}",
            f"{entry['final_success']:.0%}",
            _share(entry),
        )
    scratch = metrics["regimes"].get("scratch")
    if scratch:
        for end in scratch["final"].values():
            table.add_row(
                f"  scratch, {counted(scratch['seeds'])}",
                "",
                "",
                f"{end['final']:z.1f}",
                f"{end['final_success']:.0%}",
                "",
                style="dim",
            )
    return table


def _share(entry: Mapping[str, Any]) -> str:
    if entry["D"] is not None:
        return f"{entry['D']:z.1f} ({entry['D_ceiling']:z.1f})"
    return "" if entry["D_ceiling"] is None else "not learnt"


def _others(metrics: Mapping[str, Any]) -> Table:
    """The runs that the tables above do not show: what the composition came to, or each task where all are learnt."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("other runs", overflow="fold")
    for heading in ("task", f"final\n{metrics['of']}", "final\nsuccess", "seeds"):
        table.add_column(heading, justify="left" if heading == "task" else "right", no_wrap=True)
    shown = ("sequential", "scratch") if metrics["tasks"] else ("sequential",)
    for group, runs in metrics["regimes"].items():
        if group in shown:
            continue
        seeds = counted(runs["seeds"]).rpartition(" ")[0]
        final = list(runs["final"].items())
        for task, end in final if group == JOINT else final[-1:]:
            table.add_row(group, escape(task), f"{end['final']:z.1f}", f"{end['final_success']:.0%}", seeds)
            group = seeds = ""
        if not final:
            table.add_row(group, "", "", "", seeds)
    return table


def _headline(metrics: Mapping[str, Any]) -> Table:
    enough = all(len(metric["seeds"]["counted"]) >= ENOUGH_SEEDS for _, _, metric in _rows(metrics))
    spread = ["range over seeds", "interval*"] if not enough else ["95% interval", "range over seeds"]
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("", "", *spread, "seeds"):
        table.add_column(heading, justify="left" if heading == "" else "right", no_wrap=True)
    table.add_column("each seed")
    for label, form, metric in _rows(metrics):
        if metric["value"] is None:
            continue
        several = len(metric["seeds"]["counted"]) > 1
        low_high = [_low_high(metric["range"] if several else None, form), _low_high(metric["interval"], form)]
        table.add_row(
            f"[bold]{label}[/]",
            f"[bold]{form.format(metric['value'])}[/]",
            *(low_high if not enough else reversed(low_high)),
            counted(metric["seeds"]).rpartition(" ")[0],
            " ".join(NO_VALUE if value is None else form.format(value) for value in metric["per_seed"].values()),
        )
    return table


def _rows(metrics: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    of_study = metrics["metrics"]
    rows = [("BWT", "{:z.1f}", of_study["bwt"]), ("FWT", "{:+z.1f}", of_study["fwt"])]
    if of_study["bwt"]["value"] != of_study["bwt_gated"]["value"]:
        rows.insert(1, ("BWT gated", "{:z.1f}", of_study["bwt_gated"]))
    return rows


def _low_high(ends: Mapping[str, float] | None, form: str) -> str:
    return "" if ends is None else f"{form.format(ends['low'])} to {form.format(ends['high'])}"


def _files(study: Path) -> list[str]:
    return [str(path.relative_to(study)) for pattern in FILES for path in sorted(study.glob(pattern))]

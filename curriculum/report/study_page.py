"""The report of one study."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.bootstrap import ENOUGH_SEEDS
from etude.curriculum.metrics.curves import Curves
from etude.curriculum.metrics.registry import get_metric, metric_names
from etude.curriculum.report.contents import Series
from etude.curriculum.report.features import feature_figures
from etude.curriculum.report.methods import methods_section
from etude.curriculum.report.page import Card, Figure, Page, Section
from etude.curriculum.report.panels import Panel, make_panels, thin, worded
from etude.curriculum.report.tables import Cell, Column, Table
from etude.curriculum.report.words import counted, forgotten, nothing_learnt, nothing_measured, practised

TABLE_ROWS = 40
"""About as many checkpoints stand in the table below a figure; `etude export` has all of them."""


def study_page(curves: Curves, metrics: Mapping[str, Any]) -> Page:
    """Everything that the report of one study shows.

    Args:
        curves: its records.
        metrics: what `compute_metrics` measured of them.
    """
    suite = curves.suite
    matrices, series = shaped(metrics)
    sections = [
        _curves_section(curves, metrics),
        Section(
            "tasks",
            "Tasks",
            texts=[] if metrics["tasks"] else [nothing_measured(metrics)],
            tables=_task_tables(metrics),
        ),
        Section("matrices", "Matrices", tables=matrices),
        Section("further", "Further curves", figures=[*series, *feature_figures(curves, metrics)]),
        Section("evaluation", "How much is the evaluation's own", tables=_evaluation_table(metrics)),
        Section("metrics", "All metrics", tables=[headline_table(metrics), *metric_tables(metrics)]),
        Section("runs", "Runs", tables=[_runs_table(metrics)]),
        methods_section(curves),
    ]
    regimes = ", ".join(suite.regimes)
    return Page(
        kind="Étude report",
        heading=metrics["study"],
        lead=f"{' → '.join(suite.tasks)}; {suite.agent.algorithm}, {suite.method}; {regimes}; seeds "
        f"{', '.join(map(str, suite.seeds))}.",
        answer_title="What was forgotten, and what practice was worth",
        cards=[_card(metrics, "bwt"), _card(metrics, "fwt")],
        cautions=[
            *nothing_learnt(metrics),
            "This BWT is not that of Lopez-Paz and Ranzato (2017), which compares two points and is higher-is-better.",
        ],
        alarms=metrics["warnings"],
        sections=[section for section in sections if section.tables or section.figures or section.texts],
        of=curves.of,
    )


def _card(metrics: Mapping[str, Any], name: str) -> Card:
    metric = metrics["metrics"][name]
    form = "z.1f" if name == "bwt" else "+z.1f"
    hint = "forgetting, 0 to 100, lower is better" if name == "bwt" else "points of score, higher is better"
    sentence = forgotten(metrics) if name == "bwt" else practised(metrics)
    if metric["value"] is None:
        return Card(name.upper(), hint, "undefined", counted(metric["seeds"]), sentence)
    return Card(
        name.upper(), hint, format(metric["value"], form), spread(metric, form), _capital(sentence.partition(": ")[2])
    )


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def spread(metric: Mapping[str, Any], form: str) -> str:
    """`"3 of 3 seeds, 35.6 to 46.7 over them; 95% interval 36.1 to 48.0 (too few seeds to trust)"`."""
    said = counted(metric["seeds"])
    if metric["range"] and len(metric["seeds"]["counted"]) > 1:
        said += f", {_low_high(metric['range'], form)} over them"
    if metric["interval"]:
        doubt = " (too few seeds for it to hold)" if metric["interval"]["too_few_seeds"] else ""
        said += f"; 95% interval {_low_high(metric['interval'], form)}{doubt}"
    return said


def _low_high(ends: Mapping[str, float], form: str) -> str:
    return f"{ends['low']:{form}} to {ends['high']:{form}}"


def _curves_section(curves: Curves, metrics: Mapping[str, Any]) -> Section:
    panels = make_panels(curves, metrics)
    groups = {line.group for panel in panels for line in panel.lines}
    kinds = {area.kind for panel in panels for area in panel.areas}
    key = [
        ("sequential", "practised first, seed mean", "sequential" in groups),
        ("scratch", "from scratch, seed mean", "scratch" in groups),
        ("other", "alone (isolated), seed mean", any(group.startswith("isolated") for group in groups)),
        ("other", "from scratch for all steps (scratch-total), seed mean", "scratch-total" in groups),
        ("joint", "all tasks at once (joint), seed mean", "joint" in groups),
        ("seed", "one seed", bool(groups)),
        ("unfinished", "unfinished seed, not counted", any(not line.finished for p in panels for line in p.lines)),
        ("window", "task in training", any(panel.window for panel in panels)),
        ("lost", "lost (the area of D, whose mean is BWT)", "lost" in kinds),
        ("ahead", "ahead (FWT)", "ahead" in kinds),
        ("behind", "behind (FWT)", "behind" in kinds),
    ]
    texts = ["Dotted upright lines are the ends of the tasks. The composition's axis is its own training."]
    thinned = max((panel for panel in panels if panel.thinned), key=lambda panel: panel.checkpoints, default=None)
    if thinned is not None:
        texts.append(
            f"Of up to {thinned.checkpoints:,} checkpoints, evenly spread ones are drawn; the numbers are of all."
        )
    figures = [_panel_figure(panel, curves) for panel in panels]
    return Section("curves", "Learning curves", texts, [(mark, text) for mark, text, there in key if there], figures)


def _panel_figure(panel: Panel, curves: Curves) -> Figure:
    name = f"curve-{curves.suite.tasks.index(panel.task) + 1}"
    means = [line for line in panel.lines if line.seed is None]
    said = [f"{worded(line.group)} {line.scores[0]:z.1f} at first and {line.scores[-1]:z.1f} at last" for line in means]
    alt = f"Learning curve of {panel.task}, {panel.measured}. " + "; ".join(said)
    return Figure(name, panel.task, panel.measured, alt, panel, _panel_table(panel, name, curves.of))


def _panel_table(panel: Panel, name: str, of: str) -> Table:
    steps = np.unique(np.concatenate([line.steps for line in panel.lines])) if panel.lines else np.arange(0)
    steps = steps[thin(steps, (*panel.boundaries, *(panel.window or ())), TABLE_ROWS)]
    columns = [Column("step", ",d")]
    known: list[dict[int, float]] = []
    for line in reversed(panel.lines):
        columns.append(Column(worded(line.group) + (", mean" if line.seed is None else f", seed {line.seed}")))
        known.append(dict(zip(line.steps.tolist(), line.scores.tolist(), strict=True)))
    rows: list[list[Cell]] = [[step, *(scores.get(step) for scores in known)] for step in steps.tolist()]
    return Table(
        f"{name}-numbers", f"{'Score' if of == 'score' else 'Success in percent'} of {panel.task}", columns, rows
    )


def _task_tables(metrics: Mapping[str, Any]) -> list[Table]:
    if not metrics["tasks"]:
        return []
    seeds = metrics["regimes"]["sequential"]["seeds"]
    columns = [
        Column("task"),
        Column("C_i"),
        Column("success at own end", ".0%"),
        Column(f"final {metrics['of']}"),
        Column("final success", ".0%"),
        Column("D_i"),
        Column("D_i at most"),
    ]
    keys = ("C", "success_at_end", "final", "final_success", "D", "D_ceiling")
    rows: list[list[Cell]] = [[task, *(entry[key] for key in keys)] for task, entry in metrics["tasks"].items()]
    note = "C_i is the score at the end of the task's own training, D_i the share of it that was lost afterwards. "
    note += " ".join(
        f"{task}: {entry['D_reason']}." for task, entry in list(metrics["tasks"].items())[:-1] if entry["D_reason"]
    )
    return [Table("tasks-table", f"Each task, sequential regime, {counted(seeds)}", columns, rows, note)]


_ABOUT_EVALUATION = (
    "A policy that no longer changes loses nothing: what it is measured to lose all the same is the noise of the "
    "evaluation, 0 where that repeats itself. Where every second or fourth checkpoint gives another number, the "
    "checkpoints are too few."
)


def _evaluation_table(metrics: Mapping[str, Any]) -> list[Table]:
    """The headline metrics of fewer checkpoints, and what to expect of a policy that does not change."""
    measured = {name: metric["value"] for name, metric in metrics["metrics"].items()}
    rows: list[list[Cell]] = []
    for name in ("bwt", "fwt"):
        if measured[name] is not None:
            fewer = [measured.get(f"{name}_every_{step}") for step in ("second", "fourth")]
            rows.append([name.upper(), measured[name], *fewer, measured.get("bwt_noise") if name == "bwt" else None])
    rows += [
        [f"D_i of {task}", entry["D"], None, None, entry["D_noise"]]
        for task, entry in metrics["tasks"].items()
        if entry["D"] is not None
    ]
    columns = [*map(Column, ("", "all checkpoints", "every second", "every fourth", "expected of an unchanged policy"))]
    table = Table("evaluation-table", "BWT and FWT of fewer checkpoints", columns, rows, _ABOUT_EVALUATION)
    return [table] if rows else []


def _matrix(
    name: str, caption: str, down: Sequence[str], across: Sequence[str], values: FloatArray, note: str = ""
) -> Table:
    known = values[~np.isnan(values)]
    ends = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    form = "z.2f" if max(map(abs, ends)) < 10 else "z.1f"
    rows: list[list[Cell]] = [[label, *map(_cell, row)] for label, row in zip(down, values, strict=True)]
    return Table(name, caption, [Column(""), *(Column(label, form) for label in across)], rows, note, ends)


def shaped(metrics: Mapping[str, Any]) -> tuple[list[Table], list[Figure]]:
    """The metrics that are arrays: matrices as tables with colours, all else as curves."""
    tables: list[Table] = []
    figures: list[Figure] = []
    for name, metric in metrics["metrics"].items():
        if not isinstance(metric["value"], list):
            continue
        values = np.array(metric["value"], dtype=np.float64)  # None becomes nan
        labels = [list(axis) for axis in metric["labels"] or ()] or [
            [str(place + 1) for place in range(length)] for length in values.shape
        ]
        file = re.sub(r"[^A-Za-z0-9_.-]", "-", name)
        caption, note = f"{name}, {counted(metric['seeds'])}", f"{_about(name)} Source: {metric['source']}."
        if values.ndim == 1:
            figures.append(_series_figure(file, name, note, [name], labels[0], values[None]))
        elif values.ndim == 2 and (labels[0] == labels[1] or name.endswith("_matrix")):
            tables.append(_matrix(file, caption, labels[0], labels[1], values, note))
        elif values.ndim == 2:
            along = all(_is_number(label) for label in labels[1])
            names, places = labels if along else reversed(labels)
            figures.append(_series_figure(file, name, note, names, places, values if along else values.T))
        elif values.ndim == 3 and labels[1] == labels[2] and not name.endswith("_curve"):
            for label, part in zip(labels[0], values, strict=True):
                place = f"{file}-{labels[0].index(label) + 1}"
                tables.append(_matrix(place, f"{caption}: {label}", labels[1], labels[2], part, note))
    return tables, figures


def _series_figure(
    name: str, title: str, note: str, names: Sequence[str], places: Sequence[str], values: FloatArray
) -> Figure:
    numeric = all(map(_is_number, places))
    series = Series(names, [float(place) for place in places] if numeric else places, values, "", title)
    ends = [f"{label} from {row[0]:.3g} to {row[-1]:.3g}" for label, row in zip(names, values, strict=True)]
    alt = f"{title}: {'; '.join(ends[:6])}" + (f"; and {len(ends) - 6} more" if len(ends) > 6 else "")
    rows = [[place, *map(_cell, values[:, index])] for index, place in enumerate(places)]
    columns = [Column("where"), *(Column(label, "auto") for label in names)]
    return Figure(name, title, note, alt, series, Table(f"{name}-numbers", title, columns, rows))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _cell(value: float) -> Cell:
    return None if np.isnan(value) else float(value)


HEADLINE = ("bwt", "bwt_gated", "fwt", "fwt_total", "acc")


def headline_table(metrics: Mapping[str, Any]) -> Table:
    """The numbers that a paper's table has: value, mean and standard deviation over seeds, range, interval."""
    shown = {name: metrics["metrics"][name] for name in HEADLINE if name in metrics["metrics"]}
    shown = {name: metric for name, metric in shown.items() if metric["value"] is not None}
    few = _too_few_seeds(shown)
    rows: list[list[Cell]] = []
    for name, metric in shown.items():
        seeds, ends = metric["over_seeds"] or {}, [metric["range"], metric["interval"]]
        spread: list[Cell] = [_low_high(pair, "z.1f") if pair else None for pair in (ends if few else ends[::-1])]
        numbers = [metric["value"], seeds.get("mean"), seeds.get("sd"), seeds.get("iqm")]
        rows.append([name.upper(), *numbers, *spread, len(metric["seeds"]["counted"])])
    headings = ["range over seeds", "interval, too few seeds for 95%"] if few else ["95% interval", "range over seeds"]
    columns = [*map(Column, ("metric", "value", "mean over seeds", "sd", "IQM", *headings)), Column("seeds", "d")]
    note = (
        "The value is that of the averaged curves, which is not the mean of the seeds' values where these are clipped."
    )
    return Table("headline", f"Headline numbers of {metrics['study']}", columns, rows, note + few)


def _too_few_seeds(metrics: Mapping[str, Any]) -> str:
    """What must stand below intervals that are of too few seeds to hold; empty where none is."""
    intervals = [metric["interval"] for metric in metrics.values() if metric["interval"]]
    if not any(interval["too_few_seeds"] for interval in intervals):
        return ""
    return f" Of fewer than {ENOUGH_SEEDS} seeds, intervals are too narrow to hold 95%: trust the range over seeds."


def metric_tables(metrics: Mapping[str, Any]) -> list[Table]:
    """The metrics that are single numbers, then those that have no value, with the reason."""
    few = _too_few_seeds(metrics["metrics"])
    columns = [
        Column("metric"),
        Column("value", "auto"),
        Column("lowest seed", "auto"),
        Column("highest seed", "auto"),
        Column("interval from" if few else "95% from", "auto"),
        Column("to", "auto"),
        Column("seeds", "d"),
        Column("better"),
        Column("what it says", printed=False),
        Column("source", printed=False),
    ]
    rows: list[list[Cell]] = []
    undefined: list[list[Cell]] = []
    for name, metric in metrics["metrics"].items():
        if metric["value"] is None:
            undefined.append([name, metric["reason"], _about(name), metric["source"]])
        elif isinstance(metric["value"], int | float):
            ends = [(metric[kind] or {}).get(end) for kind in ("range", "interval") for end in ("low", "high")]
            better = {"none": "–"}.get(metric["direction"], metric["direction"])
            row = [
                name,
                metric["value"],
                *ends,
                len(metric["seeds"]["counted"]),
                better,
                _about(name),
                metric["source"],
            ]
            rows.append(row)
    planned = len(next(iter(metrics["metrics"].values()))["seeds"]["planned"]) if metrics["metrics"] else 0
    tables = []
    if rows:
        caption = f"Metrics of {metrics['of']}, {planned} {'seed' if planned == 1 else 'seeds'} planned"
        tables.append(Table("metrics-table", caption, columns, rows, few.lstrip()))
    if undefined:
        about = [Column(heading, printed=False) for heading in ("what it says", "source")]
        headings = [Column("metric"), Column("why it has no value"), *about]
        tables.append(Table("undefined-table", "Metrics without a value", headings, undefined))
    return tables


def _about(name: str) -> str:
    """The first sentence of what the metric's function says of itself."""
    if name not in metric_names():
        return ""
    return (get_metric(name).function.__doc__ or "").strip().partition("\n")[0].replace("`", "")


def _runs_table(metrics: Mapping[str, Any]) -> Table:
    """Every run, whether it counts, and what it cost where that was recorded."""
    costs = [("wall_time", Column("seconds", ",.0f"), 1.0), ("env_steps_per_s", Column("steps/s", ",.0f"), 1.0)]
    costs += [("peak_mem", Column("peak memory, MB", ",.0f"), 1e6), ("total_flops", Column("operations", ".2e"), 1.0)]
    known: Mapping[str, Mapping[str, float | None]] = metrics["costs"]
    costs = [cost for cost in costs if any(run.get(cost[0]) is not None for run in known.values())]
    rows: list[list[Cell]] = []
    for group, described in metrics["regimes"].items():
        for seed in described["seeds"]["planned"]:
            name, reason = f"{group}-seed{seed}", described["unfinished"].get(str(seed))
            spent = [known.get(name, {}).get(cost) for cost, _, _ in costs]
            cells = [None if value is None else value / unit for value, (_, _, unit) in zip(spent, costs, strict=True)]
            rows.append([name, "no" if reason else "yes", reason or "", *cells])
    columns = [Column("run"), Column("counts"), Column("why not"), *(column for _, column, _ in costs)]
    return Table("runs-table", "Runs, which of them count, and what they cost", columns, rows)

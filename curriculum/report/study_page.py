"""The report of one study."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from etude.curriculum.metrics.curves import Curves
from etude.curriculum.metrics.registry import get_metric, metric_names
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.report.methods import methods_section
from etude.curriculum.report.page import Card, Figure, Page, Section
from etude.curriculum.report.panels import Panel, make_panels, thin
from etude.curriculum.report.plots import plot_panel, plot_series
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
    shapes = _shaped(metrics, suite.tasks)
    sections = [
        _curves_section(curves, metrics),
        Section(
            "tasks", "Tasks", texts=[] if metrics["tasks"] else [nothing_measured(metrics)], tables=_task_tables(metrics)
        ),
        Section("matrices", "Matrices", tables=[*score_matrix(curves, metrics), *(t for t in shapes if isinstance(t, Table))]),
        Section("further", "Further curves", figures=[f for f in shapes if isinstance(f, Figure)]),
        Section("metrics", "All metrics", tables=metric_tables(metrics)),
        Section("runs", "Runs", tables=[_runs_table(curves, metrics)]),
        methods_section(curves, metrics),
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
    )


def _card(metrics: Mapping[str, Any], name: str) -> Card:
    metric = metrics["metrics"][name]
    form = "z.1f" if name == "bwt" else "+z.1f"
    hint = "forgetting, 0 to 100, lower is better" if name == "bwt" else "points of score, higher is better"
    sentence = forgotten(metrics) if name == "bwt" else practised(metrics)
    if metric["value"] is None:
        return Card(name.upper(), hint, "undefined", counted(metric["seeds"]), sentence)
    return Card(name.upper(), hint, format(metric["value"], form), spread(metric, form), sentence.partition(": ")[2])


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
        ("other", "another regime, seed mean", bool(groups - {"sequential", "scratch"})),
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
            f"Of up to {thinned.checkpoints:,} checkpoints, evenly spread ones are drawn; the numbers are of all of them."
        )
    figures = [_panel_figure(panel, curves) for panel in panels]
    return Section("curves", "Learning curves", texts, [(mark, text) for mark, text, there in key if there], figures)


def _panel_figure(panel: Panel, curves: Curves) -> Figure:
    name = f"curve-{curves.suite.tasks.index(panel.task) + 1}"
    means = [line for line in panel.lines if line.seed is None]
    said = [f"{_worded(line.group)} {line.scores[0]:z.1f} at first and {line.scores[-1]:z.1f} at last" for line in means]
    alt = f"Learning curve of {panel.task}, {panel.measured}. " + "; ".join(said)
    return Figure(name, panel.task, panel.measured, alt, plot_panel(panel, curves.of), _panel_table(panel, name, curves.of))


def _panel_table(panel: Panel, name: str, of: str) -> Table:
    steps = np.unique(np.concatenate([line.steps for line in panel.lines])) if panel.lines else np.arange(0)
    steps = steps[thin(steps, (*panel.boundaries, *(panel.window or ())), TABLE_ROWS)]
    columns = [Column("step", ",d")]
    known: list[dict[int, float]] = []
    for line in reversed(panel.lines):
        columns.append(Column(_worded(line.group) + (", mean" if line.seed is None else f", seed {line.seed}")))
        known.append(dict(zip(line.steps.tolist(), line.scores.tolist(), strict=True)))
    rows: list[list[Cell]] = [[step, *(scores.get(step) for scores in known)] for step in steps.tolist()]
    return Table(f"{name}-numbers", f"{'Score' if of == 'score' else 'Success in percent'} of {panel.task}", columns, rows)


def _worded(group: str) -> str:
    return {"sequential": "practised first", "scratch": "from scratch"}.get(group, group)


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


def score_matrix(curves: Curves, metrics: Mapping[str, Any]) -> list[Table]:
    """A[i, j]: the score of each task at the start and at the end of each task; none where no seed finished."""
    described = metrics["regimes"].get("sequential")
    if described is None or not described["seeds"]["counted"]:
        return []
    view = StudyView(curves, tuple(described["seeds"]["counted"]))
    columns = np.searchsorted(view.steps("sequential"), (0, *view.ends))
    scores = view.scores("sequential")[:, columns].T
    return [
        _matrix(
            "score-matrix",
            f"{'Score' if curves.of == 'score' else 'Success in percent'} of each task (across) after each task (down), "
            f"{counted(described['seeds'])}",
            ["before training", *(f"after {task}" for task in view.tasks)],
            view.tasks,
            scores,
        )
    ]


def _matrix(
    name: str, caption: str, down: Sequence[str], across: Sequence[str], values: Any, form: str = "z.1f", note: str = ""
) -> Table:
    numbers = np.array(values, dtype=np.float64)
    known = numbers[~np.isnan(numbers)]
    ends = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    rows: list[list[Cell]] = [
        [label, *(None if np.isnan(value) else float(value) for value in row)]
        for label, row in zip(down, numbers, strict=True)
    ]
    return Table(name, caption, [Column(""), *(Column(label, form) for label in across)], rows, note, ends)


def _shaped(metrics: Mapping[str, Any], tasks: Sequence[str]) -> list[Table | Figure]:
    """The metrics that are matrices and curves: a table with colours each, or a figure."""
    shaped: list[Table | Figure] = []
    for name, metric in metrics["metrics"].items():
        if not isinstance(metric["value"], list) or not metric["value"]:
            continue
        values = np.array(metric["value"], dtype=np.float64)  # None becomes nan
        note = f"{_about(name)} Source: {metric['source']}."
        caption = f"{name}, {counted(metric['seeds'])}"
        if values.ndim == 2:
            down, across = _places(values.shape[0], tasks), _places(values.shape[1], tasks)
            form = "z.2f" if np.nanmax(np.abs(values), initial=0) < 10 else "z.1f"
            shaped.append(_matrix(name, caption, down, across, values, form, note))
        elif values.ndim == 1:
            places = _places(len(values), tasks)
            rows = [[place, metric["value"][index]] for index, place in enumerate(places)]
            table = Table(f"{name}-numbers", caption, [Column("where"), Column(name, "auto")], rows)
            alt = f"{name}: from {values[0]:.3g} to {values[-1]:.3g} over {len(values)} places"
            shaped.append(Figure(name, name, note, alt, plot_series([name], places, values[None], name), table))
    return shaped


def _places(count: int, tasks: Sequence[str]) -> list[str]:
    """What the entries of an axis stand for, as far as their number tells."""
    if count == len(tasks):
        return list(tasks)
    if count == len(tasks) + 1:
        return ["before training", *(f"after {task}" for task in tasks)]
    if count == len(tasks) - 1:
        return list(tasks[:-1])
    return [str(index + 1) for index in range(count)]


def metric_tables(metrics: Mapping[str, Any]) -> list[Table]:
    """The metrics that are single numbers, then those that have no value, with the reason."""
    columns = [
        Column("metric"),
        Column("value", "auto"),
        Column("lowest seed", "auto"),
        Column("highest seed", "auto"),
        Column("95% from", "auto"),
        Column("to", "auto"),
        Column("seeds", "d"),
        Column("better"),
        Column("what it says"),
        Column("source"),
    ]
    rows: list[list[Cell]] = []
    undefined: list[list[Cell]] = []
    for name, metric in metrics["metrics"].items():
        if metric["value"] is None:
            undefined.append([name, metric["reason"], _about(name), metric["source"]])
        elif isinstance(metric["value"], int | float):
            ends = [(metric[kind] or {}).get(end) for kind in ("range", "interval") for end in ("low", "high")]
            better = {"none": "–"}.get(metric["direction"], metric["direction"])
            row = [name, metric["value"], *ends, len(metric["seeds"]["counted"]), better, _about(name), metric["source"]]
            rows.append(row)
    planned = len(next(iter(metrics["metrics"].values()))["seeds"]["planned"]) if metrics["metrics"] else 0
    tables = []
    if rows:
        caption = f"Metrics of {metrics['of']}, {planned} {'seed' if planned == 1 else 'seeds'} planned"
        tables.append(Table("metrics-table", caption, columns, rows))
    if undefined:
        headings = [Column("metric"), Column("why it has no value"), Column("what it says"), Column("source")]
        tables.append(Table("undefined-table", "Metrics without a value", headings, undefined))
    return tables


def _about(name: str) -> str:
    """The first sentence of what the metric's function says of itself."""
    if name not in metric_names():
        return ""
    return (get_metric(name).function.__doc__ or "").strip().partition("\n")[0]


def _runs_table(curves: Curves, metrics: Mapping[str, Any]) -> Table:
    rows: list[list[Cell]] = []
    for group, described in metrics["regimes"].items():
        for seed in described["seeds"]["planned"]:
            reason = described["unfinished"].get(str(seed))
            rows.append([f"{group}-seed{seed}", "no" if reason else "yes", reason or ""])
    return Table("runs-table", "Runs, and which of them count", [Column("run"), Column("counts"), Column("why not")], rows)

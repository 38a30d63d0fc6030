"""The report of several studies side by side."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from etude.curriculum.metrics.compare import HEADLINE
from etude.curriculum.metrics.compute import finished_seeds
from etude.curriculum.metrics.curves import Curves
from etude.curriculum.report.contents import Bars, Points, Ranks, Series
from etude.curriculum.report.page import Card, Figure, Page, Section
from etude.curriculum.report.panels import thin
from etude.curriculum.report.study_page import TABLE_ROWS
from etude.curriculum.report.tables import Cell, Column, Table, show
from etude.curriculum.report.words import counted

Studies = Mapping[str, Curves]
Measured = Mapping[str, Mapping[str, Any]]


def comparison_page(studies: Studies, measured: Measured, compared: Mapping[str, Any]) -> Page:
    """Everything that the report of several studies shows.

    Args:
        studies: their records, by the names that they are told apart by.
        measured: what `compute_metrics` measured of each.
        compared: what `compare` says of them together.
    """
    tests = paired_tests(compared)
    alarms = [f"compared all the same: {reason}" for reason in compared["differences"]]
    alarms += [f"{name}: {warning}" for name, metrics in measured.items() for warning in metrics["warnings"]]
    sections = [
        Section("plane", "BWT against FWT", figures=_plane(measured)),
        Section("side-by-side", "Side by side", tables=[_headline(measured)]),
        Section("tests", "Paired tests", texts=_about_tests(tests), tables=[tests] if tests.rows else []),
        Section("ranks", "Ranks over suites", *_ranks(compared)),
        Section("curves", "Learning curves", _ABOUT_CURVES, figures=_curves(studies)),
        Section("speed", "Speed", figures=_speed(measured)),
        Section("all", "All metrics", tables=[_all_metrics(measured)]),
        Section("differences", "What differs", _ABOUT_DIFFERENCES, tables=[_differences(studies)]),
    ]
    first = next(iter(studies.values()))
    return Page(
        kind="Étude comparison",
        heading=", ".join(studies),
        lead=f"{len(studies)} studies, {_suites(len({curves.suite.tasks for curves in studies.values()}))}.",
        answer_title="Which forgets least, and to which practice is worth most",
        cards=[_best(measured, tests, "bwt"), _best(measured, tests, "fwt")],
        cautions=["This BWT is not that of Lopez-Paz and Ranzato (2017): it is lower-is-better."],
        alarms=alarms,
        sections=[section for section in sections if section.tables or section.figures or section.texts],
        of=first.of,
    )


_ABOUT_CURVES = [
    "Means over the finished seeds. Of a composition, t is counted from the beginning of its own training."
]
_ABOUT_DIFFERENCES = ["Keys of the resolved suites that are not the same in all studies."]


def _best(measured: Measured, tests: Table, name: str) -> Card:
    form, sign = ("z.1f", 1) if name == "bwt" else ("+z.1f", -1)
    values = {study: metrics["metrics"][name]["value"] for study, metrics in measured.items()}
    known = {study: value for study, value in values.items() if value is not None}
    hint = "forgetting, 0 to 100, lower is better" if name == "bwt" else "points of score, higher is better"
    if not known:
        return Card(name.upper(), hint, "undefined", "", measured[next(iter(measured))]["metrics"][name]["reason"])
    best = min(known, key=lambda study: sign * known[study])
    seeds = counted(measured[best]["metrics"][name]["seeds"])
    others = ", ".join(f"{study} {show(value, form)}" for study, value in values.items() if study != best)
    sentence = f"{'Least forgotten' if name == 'bwt' else 'Practice worth most'} in {best}; {others}. "
    sentence += " ".join(
        f"Against {other}: p = {show(row[6], '.3g')}, of at least {show(row[7], '.3g')} that so many seeds can give."
        for row in tests.rows
        if row[0] == name and best in row[1:3]
        for other in row[1:3]
        if other != best
    )
    return Card(name.upper(), hint, f"{known[best]:{form}}", f"{best}, {seeds}", sentence)


def _plane(measured: Measured) -> list[Figure]:
    points = {
        name: (metrics["metrics"]["bwt"]["value"], metrics["metrics"]["fwt"]["value"])
        for name, metrics in measured.items()
        if metrics["metrics"]["bwt"]["value"] is not None and metrics["metrics"]["fwt"]["value"] is not None
    }
    if not points:
        return []
    across, up = np.array(list(points.values())).T[..., None]
    titles = ("BWT, lower is better", "FWT, higher is better")
    rows = [[name, *point] for name, point in points.items()]
    alt = "A point a study: " + "; ".join(f"{name} BWT {bwt:z.1f}, FWT {fwt:+z.1f}" for name, bwt, fwt in rows)
    table = Table("plane-numbers", "BWT and FWT", [Column("study"), Column("BWT"), Column("FWT", "+z.1f")], rows)
    caption = "The best place is at the top left: nothing forgotten, and practice worth much."
    return [Figure("plane", "BWT against FWT", caption, alt, Points(list(points), across, up, titles), table)]


def _headline(measured: Measured) -> Table:
    names = [name for name in HEADLINE if any(name in metrics["metrics"] for metrics in measured.values())]
    columns = [Column("study"), *(Column(heading) for name in names for heading in (name, f"{name} sd"))]
    rows: list[list[Cell]] = []
    for study, metrics in measured.items():
        row: list[Cell] = [study]
        for name in names:
            metric = metrics["metrics"].get(name, {})
            row += [metric.get("value"), (metric.get("over_seeds") or {}).get("sd")]
        rows.append([*row, counted(metrics["metrics"]["bwt"]["seeds"])])
    note = (
        "Values are of the curves averaged over the seeds; sd is the standard deviation of the seeds' own values, "
        "whose mean may be another."
    )
    return Table("headline", "Headline numbers", [*columns, Column("counted for BWT")], rows, note)


def paired_tests(compared: Mapping[str, Any]) -> Table:
    """Of every two studies of the same tasks, whether they differ in the headline metrics, on the seeds they share."""
    rows: list[list[Cell]] = []
    for name, metric in compared["metrics"].items():
        for pair in metric["pairs"]:
            if "reason" not in pair:
                tested = [pair["difference"], len(pair["seeds"]), pair["test"], pair["p"], pair["smallest_p"]]
                rows.append([name, pair["first"], pair["second"], *tested])
    columns = [
        Column("metric"),
        Column("study"),
        Column("against"),
        Column("mean difference", "+z.1f"),
        Column("shared seeds", "d"),
        Column("test"),
        Column("p", ".3g"),
        Column("least p possible", ".3g"),
    ]
    return Table("tests-table", "Paired tests on the seeds that two studies share", columns, rows)


def _about_tests(tests: Table) -> list[str]:
    if not tests.rows:
        return ["No two of the studies have the same tasks and a seed in common, so there is nothing to pair."]
    said = (
        "Differences are of the seeds' own values. Two-sided: Wilcoxon's signed-rank test from 6 shared seeds up, the "
        "exact sign-flip permutation test below. A p beside the least that so many seeds can give says all that they "
        "can say."
    )
    pairs = {(row[1], row[2]) for row in tests.rows}
    return [said + (" The p are not corrected for the number of comparisons." if len(pairs) > 1 else "")]


def _ranks(compared: Mapping[str, Any]) -> tuple[list[str], list[Any], list[Figure], list[Table]]:
    """Average ranks of the methods over suites: no texts, no key, figures and tables."""
    figures, tables = [], []
    for name, metric in compared["metrics"].items():
        ranked = metric["ranks"]
        if "reason" in ranked:
            continue
        friedman = ranked["friedman"]
        note = f"{len(ranked['suites'])} suites. Nemenyi's critical difference at {ranked['level']:g}: "
        note += f"{ranked['critical_difference']:.2f}; two that lie further apart differ (Demšar 2006). "
        note += "The bars reach half of it to either side."
        note += f" Friedman's test: p = {friedman['p']:.3g}." if friedman else ""
        order = sorted(ranked["average_ranks"].items(), key=lambda item: item[1])
        rows: list[list[Cell]] = [[method, rank] for method, rank in order]
        caption, columns = f"Average ranks by {name}", [Column("method"), Column("rank", ".2f")]
        alt = f"{caption}: " + ", ".join(f"{method} {rank:.2f}" for method, rank in order)
        content = Ranks([method for method, _ in order], [rank for _, rank in order], ranked["critical_difference"])
        numbers = Table(f"ranks-{name}-numbers", caption, columns, rows)
        figures.append(Figure(f"nemenyi-{name}", caption, note, alt, content, numbers))
        tables.append(Table(f"ranks-{name}", caption, columns, rows, note))
    return [], [], figures, tables


def _curves(studies: Studies) -> list[Figure]:
    """A figure a task of each set of studies that have the same tasks."""
    figures = []
    suites = dict.fromkeys(curves.suite.tasks for curves in studies.values())
    for number, tasks in enumerate(suites, 1):
        same = {name: curves for name, curves in studies.items() if curves.suite.tasks == tasks}
        for index, task in enumerate(tasks):
            lines = {name: line for name, curves in same.items() if (line := _mean(curves, index)) is not None}
            if lines:
                figures.append(_overlay(f"curve-{number}-{index + 1}", task, lines, next(iter(same.values())).of))
    return figures


def _mean(curves: Curves, index: int) -> tuple[Any, Any] | None:
    seeds = finished_seeds(curves, ("sequential",))
    if not seeds:
        return None
    view = curves.view(seeds)
    steps, scores = view.steps("sequential"), view.scores("sequential")[index]
    last = index == len(view.tasks) - 1
    begin = int(view.ends[-2]) if last and len(view.tasks) > 1 else 0
    known = ~np.isnan(scores) & (steps >= begin)
    return steps[known] - begin, scores[known]


def _overlay(name: str, task: str, lines: Mapping[str, tuple[Any, Any]], of: str) -> Figure:
    steps = np.unique(np.concatenate([steps for steps, _ in lines.values()]))
    drawn = steps[thin(steps)]
    values = np.stack([_at(drawn, *line) for line in lines.values()])
    unit = "score" if of == "score" else "success (%)"
    listed = thin(drawn, most=TABLE_ROWS)
    rows: list[list[Cell]] = [
        [int(drawn[place]), *(None if np.isnan(value) else float(value) for value in values[:, place])]
        for place in listed
    ]
    table = Table(f"{name}-numbers", f"{task}, {unit}", [Column("step", ",d"), *map(Column, lines)], rows)
    ends = "; ".join(f"{study} ends at {scores[-1]:z.1f}" for study, (_, scores) in lines.items())
    series = Series(list(lines), drawn.tolist(), values, "environment steps", unit)
    return Figure(name, task, "Sequential regime, seed means.", f"Learning curves of {task}: {ends}", series, table)


def _at(steps: Any, own: Any, scores: Any) -> Any:
    """The scores at some steps; nan where there is no checkpoint."""
    places = np.minimum(np.searchsorted(own, steps), len(own) - 1)
    return np.where(own[places] == steps, scores[places], np.nan)


def _speed(measured: Measured) -> list[Figure]:
    speeds = {
        study: metrics["metrics"]["env_steps_per_s"]["value"]
        for study, metrics in measured.items()
        if metrics["metrics"].get("env_steps_per_s", {}).get("value") is not None
    }
    if not speeds:
        return []
    rows = [[study, speed] for study, speed in speeds.items()]
    table = Table("speed-numbers", "Environment steps a second", [Column("study"), Column("steps/s", ",.0f")], rows)
    alt = "Environment steps a second: " + ", ".join(f"{study} {speed:,.0f}" for study, speed in speeds.items())
    content = Bars(list(speeds), list(speeds.values()), "environment steps a second")
    return [
        Figure(
            "speed",
            "Throughput",
            "Environment steps over the seconds of learning, the mean of the runs.",
            alt,
            content,
            table,
        )
    ]


def _all_metrics(measured: Measured) -> Table:
    names = dict.fromkeys(name for metrics in measured.values() for name in metrics["metrics"])
    rows: list[list[Cell]] = []
    for name in names:
        values = [metrics["metrics"].get(name, {}).get("value") for metrics in measured.values()]
        direction = next(m["metrics"][name]["direction"] for m in measured.values() if name in m["metrics"])
        if any(isinstance(value, int | float) for value in values):
            rows.append([name, direction if direction != "none" else "", *values])
    columns = [Column("metric"), Column("better"), *(Column(study, "auto") for study in measured)]
    return Table("all-table", "Metrics that are single numbers", columns, rows)


def _differences(studies: Studies) -> Table:
    """The dotted keys of the resolved suites that are not the same in all; the name and W&B do not count."""
    flat = [dict(_flat(curves.suite.model_dump(mode="json", exclude={"name", "wandb"}))) for curves in studies.values()]
    keys = dict.fromkeys(key for one in flat for key in one)
    rows: list[list[Cell]] = [
        [key, *(None if key not in one else str(one[key]).replace("'", "") for one in flat)]
        for key in keys
        if any(one.get(key) != flat[0].get(key) for one in flat)
    ]
    return Table("differences-table", "Settings that differ", [Column("key"), *map(Column, studies)], rows)


def _flat(settings: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _suites(count: int) -> str:
    return "all of the same tasks" if count == 1 else f"{count} sets of tasks"

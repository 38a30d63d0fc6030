"""Figures of what policies make of the tasks' observations: their features as points of the plane."""

from collections.abc import Mapping
from typing import Any

from etude.curriculum.metrics.curves import Curves
from etude.curriculum.report.contents import Points
from etude.curriculum.report.page import Figure
from etude.curriculum.report.tables import Cell, Column, Table

KINDS = {"pca": "principal components", "t-sne": "t-SNE"}


def feature_figures(curves: Curves, metrics: Mapping[str, Any]) -> list[Figure]:
    """The features of the first seed's last policy, where metrics of stored policies were measured."""
    measured = any(metric["tier"] != "core" and metric["value"] is not None for metric in metrics["metrics"].values())
    seeds = metrics["regimes"].get("sequential", {}).get("seeds", {}).get("counted", [])
    if not measured or not seeds:
        return []
    from etude.curriculum.metrics.policies.embedded import embedded
    from etude.curriculum.metrics.policies.stored import Unmeasurable

    figures = []
    for how, kind in KINDS.items():
        try:
            clouds = embedded(curves.policies, seeds[0], len(curves.suite.tasks), how)  # type: ignore[arg-type]
        except Unmeasurable:
            continue
        title = f"Features at the end, {kind}"
        means, spreads = clouds.mean(axis=1), clouds.std(axis=1)
        rows: list[list[Cell]] = [
            [task, *map(float, mean), *map(float, spread)]
            for task, mean, spread in zip(curves.suite.tasks, means, spreads, strict=True)
        ]
        headings = ("mean of the first axis", "of the second", "sd of the first", "of the second ")
        columns = [Column("task"), *(Column(heading, "z.2f") for heading in headings)]
        name = f"features-{how}"
        caption = f"A point an observation of a task, seed {seeds[0]}; the last hidden layer of the policy network."
        alt = f"{title}: " + "; ".join(f"{task} around {x:.2g}, {y:.2g}" for task, x, y, *_ in rows)
        content = Points(curves.suite.tasks, clouds[..., 0], clouds[..., 1], ("first axis", "second axis"))
        figures.append(Figure(name, title, caption, alt, content, Table(f"{name}-numbers", title, columns, rows)))
    return figures

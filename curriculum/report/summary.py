"""All that a study shows at its end, made from its records: metrics.json, the figures and the table."""

from pathlib import Path
from typing import Any

from rich.console import Console

from etude.curriculum.metrics.compute import compute_metrics
from etude.curriculum.metrics.curves import Of
from etude.curriculum.report.figures import learning_curves
from etude.curriculum.report.table import print_table


def report_study(study: Path, console: Console | None = None, of: Of = "score") -> dict[str, Any]:
    """Make a study's metrics and figures again, and print its table.

    Args:
        study: its folder.
        console: where to print; nothing is printed without one.
        of: what the metrics read, scores or success rates in percent.

    Returns:
        What `compute_metrics` returns.

    Raises:
        RequestError: the study cannot be read.
    """
    metrics = compute_metrics(study, of)
    learning_curves(study, of)
    if console is not None:
        print_table(study, console, metrics)
    return metrics

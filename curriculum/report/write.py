"""`etude report`: the page, its tables and its figures, written into a folder."""

import json
from collections.abc import Sequence
from pathlib import Path

from etude.curriculum.metrics.compare import compare_curves, load_studies
from etude.curriculum.metrics.compute import measure_study
from etude.curriculum.metrics.curves import Of, load_curves
from etude.curriculum.metrics.registry import TIERS, Tier
from etude.curriculum.report.comparison_page import comparison_page
from etude.curriculum.report.drawings import draw_all
from etude.curriculum.report.figures import draw_learning_curves
from etude.curriculum.report.page import Page, render
from etude.curriculum.report.study_page import study_page
from etude.curriculum.saves import write_text
from etude.envs.errors import RequestError


def write_report(study: Path, of: Of = "score", out: Path | None = None) -> Path:
    """Write a study's report.html, tables/ and figures/.

    Metrics of the tier that `etude metrics` last measured are in it.

    Args:
        study: its folder.
        of: what metrics read, scores or success rates in percent.
        out: the folder to write into; the study's own if not given.

    Returns:
        The page's path.

    Raises:
        RequestError: as `load_curves`.
    """
    curves = load_curves(study, of)
    metrics = measure_study(curves, measured_tier(study, of))
    page = study_page(curves, metrics)
    folder = out or study
    draw_learning_curves(curves, folder / "figures")
    return write_page(page, folder, "report" if of == "score" else f"report-{of}")


def write_page(page: Page, folder: Path, name: str = "report") -> Path:
    """Write a page and the files of its tables and figures into a folder."""
    suffix = name.removeprefix("report")
    tables = folder / f"tables{suffix}"
    tables.mkdir(parents=True, exist_ok=True)
    for table in page.tables:
        _write(tables / f"{table.name}.csv", table.csv())
        _write(tables / f"{table.name}.tex", table.latex())
    draw_all(page, folder / f"figures{suffix}")
    path = folder / f"{name}.html"
    _write(path, render(page))
    return path


def _write(path: Path, text: str) -> None:
    """Write it, with a question mark for what no text can have, as the name of a folder may."""
    write_text(path, text.encode(errors="replace").decode())


def measured_tier(study: Path, of: Of) -> Tier:
    """The highest tier in a study's metrics file; core where there is none."""
    path = study / ("metrics.json" if of == "score" else f"metrics-{of}.json")
    try:
        found = {metric["tier"] for metric in json.loads(path.read_bytes())["metrics"].values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "core"
    return next((tier for tier in reversed(TIERS) if tier in found), "core")


def write_comparison(studies: Sequence[Path], of: Of = "score", out: Path | None = None, force: bool = False) -> Path:
    """Write a report of several studies side by side.

    Args:
        studies: their folders.
        of: what metrics read, scores or success rates in percent.
        out: the folder to write into; `comparison` if not given.
        force: whether to compare studies that should not be; the page says so.

    Raises:
        RequestError: the studies must not be compared, one is given twice, or as `load_curves`.
    """
    resolved = [study.resolve() for study in studies]
    for study in resolved:
        if resolved.count(study) > 1:
            raise RequestError(f"report: {study.name} is given twice")
    curves = load_studies(studies, of)
    compared = compare_curves(curves, force=force)
    measured = {name: measure_study(one, measured_tier(one.study, of)) for name, one in curves.items()}
    page = comparison_page(curves, measured, compared)
    return write_page(page, out or Path("comparison"), "report" if of == "score" else f"report-{of}")


def write_reports(studies: Sequence[Path], of: Of, out: Path | None, force: bool) -> Path:
    """The report of one study, or of several side by side.

    Raises:
        RequestError: `out` is a file, or as `write_report` and `write_comparison`.
    """
    if out is not None and out.is_file():
        raise RequestError(f"--out: {out} is a file; name a folder")
    if len(studies) == 1:
        return write_report(studies[0], of, out)
    return write_comparison(studies, of, out, force)

"""`etude report`: the page, its tables and its figures, written into a folder."""

from collections.abc import Sequence
from pathlib import Path

from etude.curriculum.metrics.compute import compute_metrics
from etude.curriculum.metrics.curves import Of, load_curves
from etude.curriculum.report.figures import learning_curves
from etude.curriculum.report.page import Page, render
from etude.curriculum.report.study_page import study_page
from etude.curriculum.saves import write_text


def write_report(study: Path, of: Of = "score") -> Path:
    """Write a study's report.html, tables/ and figures/ into its folder.

    Returns:
        The page's path.

    Raises:
        RequestError: as `load_curves`.
    """
    metrics = compute_metrics(study, of)
    page = study_page(load_curves(study, of), metrics)
    learning_curves(study, of)
    return write_page(page, study, "report" if of == "score" else f"report-{of}")


def write_page(page: Page, folder: Path, name: str = "report") -> Path:
    """Write a page and the files of its tables into a folder."""
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for table in page.tables:
        write_text(tables / f"{table.name}.csv", table.csv())
        write_text(tables / f"{table.name}.tex", table.latex())
    path = folder / f"{name}.html"
    write_text(path, render(page))
    return path


def write_reports(studies: Sequence[Path], of: Of, out: Path | None, force: bool) -> Path:
    """One study's report, or several side by side."""
    return write_report(studies[0], of)

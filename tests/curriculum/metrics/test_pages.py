import doctest
import re
from pathlib import Path

import pytest

from etude.curriculum.metrics import metric_names, registry
from etude.curriculum.metrics.compute import measure
from etude.curriculum.metrics.curves import Curves, load_curves
from tests.curriculum.metrics.fake import curves_of, value_of
from tests.curriculum.studies import make_suite, realistic, write_study

PAGES = Path(__file__).parents[3] / "docs" / "metrics"


@pytest.mark.parametrize("page", ["bwt.md", "fwt.md", "policies.md", "statistics.md"])
def test_the_worked_examples_of_a_page_come_out_as_it_says(page: str) -> None:
    failed, tried = doctest.testfile(str(PAGES / page), module_relative=False)
    assert tried >= 2
    assert failed == 0


@pytest.mark.parametrize(("page", "least"), [("matrix.md", 10), ("curves.md", 18)])
def test_the_tables_of_a_page_are_what_its_example_measures(page: str, least: int) -> None:
    examples = table_column((PAGES / page).read_text(), "example")
    assert len(examples) >= least
    curves = example_study()
    for name, shown in examples.items():
        assert value_of(name, curves) == pytest.approx(float(shown), rel=2e-4, abs=5e-5), name


def table_column(text: str, heading: str) -> dict[str, str]:
    """A column of all tables that have it, by what stands first in each line."""
    found: dict[str, str] = {}
    place = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            place = None
        elif place is None:
            place = cells.index(heading) if heading in cells else len(cells)
        elif place < len(cells) and cells[place].strip("-"):
            found[cells[0]] = cells[place]
    return found


def example_study() -> Curves:
    """The three tasks of matrix.md."""
    tasks = ("reach", "press-button", "unlock-drawer")
    regimes = ("sequential", "scratch", "isolated", "joint")
    suite = make_suite(tasks, 20, every=10, also=[1], episodes=1, seeds=[0], regimes=regimes)
    rows = [line for line in (PAGES / "matrix.md").read_text().splitlines() if line.startswith("|")]
    steps = [int(cell) for cell in rows[0].split("|")[2:-1]]
    sequential = {}
    for row in rows[2:5]:
        task, *cells = (cell.strip() for cell in row.split("|")[1:-1])
        sequential |= {(step, task): float(cell) for step, cell in zip(steps, cells, strict=True) if cell}
    ends = {"reach": 90.0, "press-button": 80.0, "unlock-drawer": 70.0}
    alone = {"scratch": (10, 10, 30, 50), "isolated-reach": (0, 10, 50, 80), "isolated-press-button": (0, 10, 50, 100)}
    scores = {"sequential": sequential, "joint": {(step, task): ends[task] for step in steps for task in tasks}}
    for group, curve in alone.items():
        task = "unlock-drawer" if group == "scratch" else group.removeprefix("isolated-")
        scores[group] = {(step, task): float(score) for step, score in zip((0, 1, 10, 20), curve, strict=True)}
    return curves_of(suite, [scores])


def test_every_metric_is_on_a_page() -> None:
    text = " ".join(path.read_text() for path in PAGES.glob("*.md"))
    words = set(re.findall(r"[a-z0-9_]+", text)) | {f"fwt_total_orders{end}" for end in ("_mean", "_sd")}
    parts = {f"{name}_orders{end}" for name in ("bwt", "bwt_gated", "fwt") for end in ("_mean", "_sd")}
    assert [name for name in metric_names() if name.removesuffix("_curve") not in words | parts] == []


def test_the_example_of_a_metric_of_ones_own_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_METRICS", dict(registry._METRICS))
    _, code = (PAGES / "README.md").read_text().split("```python\n")[:2]
    exec(code.split("```")[0], {})
    suite = make_suite()
    measured = measure(load_curves(write_study(tmp_path / "study", suite, realistic(suite))), ["worst"])
    finals = [entry["final"] for entry in measured["tasks"].values()]
    assert measured["metrics"]["worst"]["value"] == pytest.approx(min(finals))
    assert measured["metrics"]["worst"]["interval"] is not None


def test_the_example_of_another_threshold_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_METRICS", dict(registry._METRICS))
    (code,) = re.findall(r"```python\n(.*?)```", (PAGES / "curves.md").read_text(), re.DOTALL)
    exec(code, {})
    suite = make_suite(("reach", "unlock-drawer"))
    rises = lambda regime, seed, task, step: step - 40.0 if regime == "sequential" else 0.0  # noqa: E731
    curves = load_curves(write_study(tmp_path / "study", suite, lambda *at: 2.5 * rises(*at), spread=0.0))
    measured = measure(curves, ["time_to_80", "time_to_threshold_sequential"])["metrics"]
    assert measured["time_to_80"]["value"] == pytest.approx(32)
    assert measured["time_to_threshold_sequential"]["value"] == pytest.approx(20)


def test_the_page_names_every_key_of_the_file(tmp_path: Path) -> None:
    suite = make_suite()
    measured = measure(load_curves(write_study(tmp_path / "study", suite, realistic(suite))))
    text = (PAGES / "README.md").read_text()
    keys = {*measured, *measured["metrics"]["bwt"], *measured["tasks"]["reach"], *measured["regimes"]["scratch"]}
    assert [key for key in keys if key.removesuffix("_interval") not in text] == []

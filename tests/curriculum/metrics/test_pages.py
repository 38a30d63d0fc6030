import doctest
from pathlib import Path

import pytest

from etude.curriculum.metrics import metric_names, registry
from etude.curriculum.metrics.compute import measure
from etude.curriculum.metrics.curves import load_curves
from tests.curriculum.studies import make_suite, realistic, write_study

PAGES = Path(__file__).parents[3] / "docs" / "metrics"


@pytest.mark.parametrize("page", ["bwt.md", "fwt.md", "policies.md"])
def test_the_worked_examples_of_a_page_come_out_as_it_says(page: str) -> None:
    failed, tried = doctest.testfile(str(PAGES / page), module_relative=False)
    assert tried >= 2
    assert failed == 0


def test_every_metric_is_on_the_page() -> None:
    text = (PAGES / "README.md").read_text()
    names = {name.removesuffix("_curve") for name in metric_names()}
    assert [name for name in names if f"[{name}]" not in text and f"| {name} |" not in text] == []


def test_the_example_of_a_metric_of_ones_own_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_METRICS", dict(registry._METRICS))
    _, code = (PAGES / "README.md").read_text().split("```python\n")
    exec(code.split("```")[0], {})
    suite = make_suite()
    measured = measure(load_curves(write_study(tmp_path / "study", suite, realistic(suite))), ["worst"])
    finals = [entry["final"] for entry in measured["tasks"].values()]
    assert measured["metrics"]["worst"]["value"] == pytest.approx(min(finals))
    assert measured["metrics"]["worst"]["interval"] is not None


def test_the_page_names_every_key_of_the_file(tmp_path: Path) -> None:
    suite = make_suite()
    measured = measure(load_curves(write_study(tmp_path / "study", suite, realistic(suite))))
    text = (PAGES / "README.md").read_text()
    keys = {*measured, *measured["metrics"]["bwt"], *measured["tasks"]["reach"], *measured["regimes"]["scratch"]}
    assert [key for key in keys if key.removesuffix("_interval") not in text] == []

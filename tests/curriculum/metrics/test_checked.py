import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from etude.curriculum.metrics import Metric, Undefined, Value, register_metric, registry
from etude.curriculum.metrics.compute import measure
from etude.curriculum.metrics.curves import load_curves
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.report.numbers import print_numbers
from etude.curriculum.report.write import write_report
from tests.curriculum.studies import make_suite, realistic, write_study

SUITE = make_suite(("reach", "unlock-drawer"), 20)
Own = Callable[[Callable[[StudyView], Any]], dict[str, Any]]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Own:
    """Measures a function of the user's own beside bwt."""
    monkeypatch.setattr(registry, "_METRICS", dict(registry._METRICS))
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE))

    def measured(function: Callable[[StudyView], Any]) -> dict[str, Any]:
        register_metric(Metric("own", function, "core", "none", "tests"))
        return measure(load_curves(study), ["own", "bwt"])

    return measured


def fails(view: StudyView) -> Value:
    raise KeyError("joint")


def writes(view: StudyView) -> Value:
    view.scores("sequential")[:] = 0  # What all other metrics read.
    return Value(0.0)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (fails, "its function failed (KeyError: 'joint')"),
        (lambda view: sys.exit(7), "its function failed (SystemExit: 7)"),
        (writes, "its function failed (ValueError: assignment destination is read-only)"),
        (lambda view: 3.0, "its function returned float, must return Value or Undefined"),
        (lambda view: Value(float("nan")), "its value is nan, not a finite number"),
        (lambda view: Value(np.inf), "its value is inf, not a finite number"),
        (lambda view: Value("much"), "its function failed (ValueError: could not convert string to float: 'much')"),
        (lambda view: Value(np.array([])), "its value is an array without a place"),
        (
            lambda view: Value(np.zeros(3), labels=(view.tasks,)),
            "its labels are for an array of shape (2,), but its value has shape (3,)",
        ),
    ],
)
def test_a_metric_that_fails_is_undefined_with_the_fault_and_the_others_are_measured(
    own: Own, function: Callable[[StudyView], Any], reason: str
) -> None:
    measured = own(function)["metrics"]
    assert (measured["own"]["value"], measured["own"]["reason"]) == (None, reason)
    assert measured["bwt"]["value"] is not None and measured["bwt"]["interval"] is not None


def only_of_the_curves(view: StudyView) -> Value | Undefined:
    return Undefined("no") if view.resamples else Value(1.0)


def not_resampled(view: StudyView) -> Value:
    return Value(1.0) if not view.resamples else fails(view)


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (lambda view: Value(view.scores("sequential")[..., -1].min()), "is not one number a resample"),
        (only_of_the_curves, "is undefined under resamples though not of the curves themselves"),
        (not_resampled, "failed under resamples, KeyError: 'joint'"),
    ],
)
def test_a_metric_that_cannot_be_resampled_has_its_value_no_interval_and_a_warning(
    own: Own, function: Callable[[StudyView], Any], fault: str
) -> None:
    measured = own(function)
    assert measured["metrics"]["own"]["value"] is not None
    assert measured["metrics"]["own"]["interval"] is None
    assert measured["metrics"]["bwt"]["interval"] is not None
    [warning] = measured["warnings"]
    assert warning.startswith("own has no interval: ") and fault in warning and "resampled=False" in warning


def test_a_seed_alone_may_have_no_value(own: Own) -> None:
    measured = own(lambda view: Value(1.0 if len(view.seeds) > 1 else float("nan")))["metrics"]["own"]
    assert measured["value"] == 1
    assert measured["per_seed"] == {"0": None, "1": None, "2": None}
    assert measured["range"] is None and measured["over_seeds"] is None


def test_labels_may_be_numbers(own: Own, tmp_path: Path) -> None:
    measured = own(lambda view: Value(view.scores("sequential")[..., -1, :], labels=(view.steps("sequential"),)))
    assert measured["metrics"]["own"]["labels"] == [["0", "10", "20", "30", "40"]]
    print_numbers(Console(file=io.StringIO()), measured)
    assert 'id="figure-own"' in write_report(tmp_path / "study").read_text()


def test_a_report_is_written_whatever_a_metric_of_ones_own_does(own: Own, tmp_path: Path) -> None:
    own(fails)
    assert "its function failed (KeyError: " in write_report(tmp_path / "study").read_text()

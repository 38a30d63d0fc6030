from pathlib import Path

import numpy as np
import pytest

from etude.curriculum.metrics import backward_transfer
from etude.curriculum.metrics.compute import compute_metrics
from etude.curriculum.metrics.curves import load_curves
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.suite import Suite
from tests.curriculum.studies import make_suite, realistic, write_study


def two_orders() -> Suite:
    suite = make_suite(("reach", "press-button", "open-drawer", "unlock-drawer"), {"reach": 20, "default": 40})
    orders = [["reach", "press-button", "open-drawer"], ["open-drawer", "reach", "press-button"]]
    return Suite.model_validate(suite.model_dump() | {"orders": orders})


def test_each_order_is_measured_along_its_own_tasks(tmp_path: Path) -> None:
    suite = two_orders()
    study = write_study(tmp_path / "study", suite, realistic(suite))
    measured = compute_metrics(study)["metrics"]
    view = StudyView(load_curves(study), suite.seeds)
    other = view.scores("sequential-order2")[[2, 0, 1, 3]]
    expected = backward_transfer(view.steps("sequential-order2"), other, [40, 60, 100, 140]).value
    assert expected is not None
    values = measured["bwt_orders"]["value"]
    assert values == pytest.approx([measured["bwt"]["value"], expected])
    assert measured["bwt_orders"]["labels"] == [["sequential", "sequential-order2"]]
    assert measured["bwt_orders_mean"]["value"] == pytest.approx(np.mean(values))
    assert measured["bwt_orders_sd"]["value"] == pytest.approx(np.std(values, ddof=1))
    assert measured["fwt_orders_mean"]["interval"]["low"] < measured["fwt_orders_mean"]["value"]
    assert measured["fwt_total_orders"]["reason"] == "needs the scratch-total regime"


def test_one_order_has_no_spread(tmp_path: Path) -> None:
    suite = make_suite(budget=20)
    measured = compute_metrics(write_study(tmp_path / "study", suite, realistic(suite)))["metrics"]
    assert measured["bwt_orders_sd"]["reason"] == "needs several orders of the primitives"

import json
import re
from pathlib import Path

import numpy as np
import pytest

from etude.curriculum.metrics import Metric, Undefined, Value, get_metric, metric_names, register_metric
from etude.curriculum.metrics import registry as module
from etude.curriculum.metrics.added import add_metric
from etude.curriculum.metrics.compute import compute_metrics, measure
from etude.curriculum.metrics.curves import load_curves
from etude.curriculum.metrics.view import StudyView
from etude.envs.errors import RequestError
from tests.curriculum.studies import make_suite, realistic, write_study

SUITE = make_suite(("reach", "unlock-drawer"), 20)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_METRICS", dict(module._METRICS))


def test_the_headline_metrics_are_there_with_their_direction_and_tier() -> None:
    assert metric_names()[:3] == ("bwt", "bwt_gated", "fwt")
    assert [get_metric(name).direction for name in ("bwt", "bwt_gated", "fwt")] == ["lower", "lower", "higher"]
    assert {get_metric(name).tier for name in metric_names("core")} == {"core"}
    assert set(metric_names("core")) <= set(metric_names("extended")) <= set(metric_names())


def test_an_unknown_metric_is_answered_with_the_nearest() -> None:
    with pytest.raises(RequestError, match="unknown metric bwt_gate: did you mean bwt_gated"):
        get_metric("bwt_gate")


def test_a_name_is_given_once(registry: None) -> None:
    with pytest.raises(RequestError, match="metric fwt: registered already"):
        register_metric(Metric("fwt", lambda view: Value(0.0), "core", "none", "here"))


def test_a_metric_added_later_is_measured_like_ours(registry: None, tmp_path: Path) -> None:
    def best(view: StudyView) -> Value | Undefined:
        return Value(view.scores("scratch")[..., -1, :].max(axis=-1))

    register_metric(Metric("best_from_scratch", best, "core", "higher", "tests", regimes=("scratch",)))
    curves = load_curves(write_study(tmp_path / "study", SUITE, realistic(SUITE)))
    measured = measure(curves)["metrics"]["best_from_scratch"]
    assert measured["value"] == pytest.approx(StudyView(curves, (0, 1, 2)).scores("scratch")[-1].max())
    assert measured["range"]["low"] <= measured["value"] <= measured["range"]["high"]
    assert measured["interval"]["low"] < measured["interval"]["high"]


def test_a_metric_may_be_a_matrix(registry: None, tmp_path: Path) -> None:
    def matrix(view: StudyView) -> Value | Undefined:
        columns = np.searchsorted(view.steps("sequential"), view.ends)
        return Value(view.scores("sequential")[..., columns])

    register_metric(Metric("matrix", matrix, "core", "none", "tests"))
    curves = load_curves(write_study(tmp_path / "study", SUITE, lambda r, s, task, step: 40.0 + step, spread=0.0))
    measured = measure(curves, ["matrix"])["metrics"]["matrix"]
    assert np.array(measured["value"]) == pytest.approx(np.array([[60, 80], [60, 80]]))
    assert measured["per_seed"].keys() == {"0", "1", "2"}
    assert measured["interval"] is None and measured["range"] is None


def test_a_metric_is_undefined_with_its_own_reason(registry: None, tmp_path: Path) -> None:
    register_metric(Metric("never", lambda view: Undefined("needs a moon"), "core", "none", "tests"))
    curves = load_curves(write_study(tmp_path / "study", SUITE, realistic(SUITE)))
    measured = measure(curves, ["never"])["metrics"]
    assert measured.keys() == {"never"}
    assert (measured["never"]["value"], measured["never"]["reason"]) == (None, "needs a moon")


def test_a_metric_of_the_studys_imports_is_measured_from_the_records(registry: None, tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "metrics" / "README.md").read_text(encoding="utf-8")
    (code,) = [code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "@metric" in code]
    path = tmp_path / "my_metrics.py"
    path.write_text(code)
    study = write_study(tmp_path / "study", SUITE.model_copy(update={"imports": (str(path),)}), realistic(SUITE))
    assert compute_metrics(study)["metrics"]["worst"]["value"] is not None
    assert "worst" in json.loads((study / "metrics.json").read_text())["metrics"]


def test_a_study_whose_imports_are_gone_is_measured_without_them(registry: None, tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE.model_copy(update={"imports": ("/gone.py",)}), realistic(SUITE))
    measured = compute_metrics(study)
    assert measured["metrics"]["bwt"]["value"] is not None
    assert measured["warnings"] == ["imports: /gone.py: there is no such file; metrics that it registers are left out"]


def test_a_plain_function_of_a_file_is_a_metric_of_its_own_name(registry: None, tmp_path: Path) -> None:
    (tmp_path / "my_lab.py").write_text(
        "from etude.curriculum.metrics import Value, metric\n\n\n"
        "def lowest(view):\n    return Value(view.scores('sequential')[..., -1].min(axis=-1))\n\n\n"
        "@metric('top', direction='higher', source='here')\n"
        "def highest(view):\n    return Value(view.scores('sequential')[..., -1].max(axis=-1))\n"
    )
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE))
    path = tmp_path / "my_lab.py"
    measured = compute_metrics(study, add=[f"{path}:lowest", f"{path}:highest", "acc"])["metrics"]
    finals = measured["score_matrix"]["value"][-1]
    assert (measured["lowest"]["value"], measured["top"]["value"]) == (min(finals), max(finals))
    assert measured["lowest"]["interval"] is not None
    assert [measured[name]["direction"] for name in ("lowest", "top")] == ["none", "higher"]


def test_what_cannot_be_added_is_refused(registry: None, tmp_path: Path) -> None:
    for entry, message in (
        ("acx", "unknown metric acx: did you mean acc"),
        (f"{tmp_path}/none.py:f", "--add: .*there is no such file"),
        ("my.py", "--add my.py: names no function of the file; my.py:FUNCTION does"),
        ("my-lab.py:f", "--add my-lab.py:f: the file's name, my-lab, is no name in Python"),
        ("json:JSONDecoder", "is type, must be a function of a StudyView"),
        ("json:dumpz", "did you mean dump"),
    ):
        with pytest.raises(RequestError, match=message):
            add_metric(entry)

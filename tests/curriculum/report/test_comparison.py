import json
from pathlib import Path
from typing import Any

import pytest

from etude.curriculum import cli
from etude.curriculum.metrics.compute import compute_metrics
from etude.curriculum.metrics.statistics import paired_test
from etude.curriculum.report.write import write_comparison
from etude.envs.errors import RequestError
from tests.curriculum.report.pages import Element, plots, read_page
from tests.curriculum.studies import make_suite, realistic, write_study

FIRST = ("reach", "press-button", "unlock-drawer")
SECOND = ("reach", "lift", "stack")


def write(folder: Path, name: str, keep: float, tasks: tuple[str, ...] = FIRST, **changes: Any) -> Path:
    suite = make_suite(tasks, **changes).model_copy(update={"method": name.split("-")[0]})
    return write_study(folder / name, suite, realistic(suite, keep=keep))


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("studies")
    kept = {"ewc": 0.8, "finetune": 0.2, "replay": 0.5}
    return [
        write(folder, f"{method}-{suite}", keep, tasks)
        for suite, tasks in (("first", FIRST), ("second", SECOND))
        for method, keep in kept.items()
    ]


@pytest.fixture(scope="module")
def page(studies: list[Path]) -> Element:
    return read_page(write_comparison(studies, out=studies[0].parent / "comparison"))


def table(page: Element, name: str) -> list[list[str]]:
    return page.one("div", id=name).one("table").rows()


def test_the_answer_names_the_study_that_forgets_least(page: Element, studies: list[Path]) -> None:
    values = {study.name: compute_metrics(study)["metrics"]["bwt"]["value"] for study in studies}
    best = min(values, key=lambda study: values[study])
    card = page.all("div", **{"class": "card"})[0]
    assert card.one("p", **{"class": "value"}).text == f"{values[best]:.1f}"
    assert f"Least forgotten in {best}" in card.text


def test_studies_of_the_same_tasks_are_tested_in_pairs_on_their_shared_seeds(
    page: Element, studies: list[Path]
) -> None:
    rows = {tuple(row[:3]): row[3:] for row in table(page, "tests-table")[1:]}
    assert len([pair for pair in rows if pair[0] == "bwt"]) == 6  # 3 of either suite
    one, other = studies[0], studies[1]
    seeds = [list(compute_metrics(study)["metrics"]["bwt"]["per_seed"].values()) for study in (one, other)]
    test = paired_test(*seeds)
    shown = rows["bwt", one.name, other.name]
    assert shown == [f"{test['difference']:+.1f}", "3", "sign-flip", f"{test['p']:.3g}", "0.25"]


def test_every_study_is_a_point_of_the_plane(page: Element, studies: list[Path]) -> None:
    drawn = plots(page)["BWT against FWT"]["data"]
    points = {trace["name"]: (trace["x"][0], trace["y"][0]) for trace in drawn}
    for study in studies:
        metrics = compute_metrics(study)["metrics"]
        assert points[study.name] == pytest.approx((metrics["bwt"]["value"], metrics["fwt"]["value"]), rel=1e-4)


def test_methods_are_ranked_over_suites_with_their_critical_difference(page: Element, studies: list[Path]) -> None:
    rows = {row[0]: float(row[1]) for row in table(page, "ranks-bwt")[1:]}
    assert set(rows) == {"PPO ewc", "PPO finetune", "PPO replay"}
    assert sum(rows.values()) == 6
    assert "Nemenyi's critical difference at 0.05: 2.34" in page.one("div", id="ranks-bwt").text
    assert (studies[0].parent / "comparison/figures/nemenyi-bwt.pdf").is_file()


def test_curves_of_the_same_tasks_lie_over_each_other(page: Element) -> None:
    assert [trace["name"] for trace in plots(page)["press-button"]["data"]] == [
        "ewc-first",
        "finetune-first",
        "replay-first",
    ]
    assert plots(page)["stack"]["data"][0]["x"][0] == 0


def test_what_differs_between_the_suites_is_listed(page: Element) -> None:
    rows = {row[0]: row[1:] for row in table(page, "differences-table")[1:]}
    assert rows["method"] == ["ewc", "finetune", "replay"] * 2
    assert "seeds" not in rows and "name" not in rows


def test_studies_whose_fingerprints_differ_are_refused_by_name_unless_forced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "one", 0.5)
    other = write(tmp_path, "other", 0.5)
    references = json.loads((other / "references.json").read_text())
    references["reach"]["fingerprint"]["mujoco"] = "9.9"
    (other / "references.json").write_text(json.dumps(references))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["report", "one", "other"]) == 2
    said = capsys.readouterr().err
    assert "one and other: reach: the simulator, MuJoCo differs, None and 9.9" in said and "--force" in said
    assert not (tmp_path / "comparison").exists()
    assert cli.main(["report", "one", "other", "--force"]) == 0
    alarms = read_page(tmp_path / "comparison/report.html").one("div", **{"class": "alarms"}).text
    assert "compared all the same: one and other: reach: the simulator" in alarms


def test_studies_trained_for_other_steps_are_refused(tmp_path: Path) -> None:
    studies = [write(tmp_path, "one", 0.5), write(tmp_path, "other", 0.5, budget=80)]
    with pytest.raises(RequestError, match="one and other: budget differs"):
        write_comparison(studies, out=tmp_path / "out")


def test_a_study_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="is given twice"):
        write_comparison([tmp_path / "a", tmp_path / "a"])


def test_two_studies_of_other_tasks_have_nothing_to_pair(tmp_path: Path) -> None:
    studies = [write(tmp_path, "one", 0.5), write(tmp_path, "other", 0.5, SECOND)]
    page = read_page(write_comparison(studies, out=tmp_path / "out"))
    assert "there is nothing to pair" in page.one("section", id="tests").text
    assert not page.all("section", id="ranks")

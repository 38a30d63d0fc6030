import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from etude.curriculum.metrics import Metric, Value, curves, register_metric, registry
from etude.curriculum.plan import RunName
from etude.curriculum.records import Evaluation, read_evaluations
from etude.curriculum.report.panels import POINTS
from etude.curriculum.report.write import measured_tier, write_report
from etude.curriculum.status import Status, write_status
from etude.curriculum.study import StudyFolder
from tests.curriculum.report.pages import Element, plots, polygon_area, read_page
from tests.curriculum.studies import make_suite, realistic, write_run, write_study

SUITE = make_suite(budget=80)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = write_study(tmp_path_factory.mktemp("studies") / "study", SUITE, realistic(SUITE))
    write_report(study)
    return study


@pytest.fixture(scope="module")
def page(study: Path) -> Element:
    return read_page(study / "report.html")


@pytest.fixture(scope="module")
def metrics(study: Path) -> dict[str, Any]:
    return dict(json.loads((study / "metrics.json").read_bytes()))


def section(page: Element, name: str) -> Element:
    return page.one("section", id=name)


def test_the_answer_comes_first_with_its_spread_and_in_words(page: Element, metrics: dict[str, Any]) -> None:
    answer = section(page, "answer")
    assert page.all("section")[0] is answer
    bwt, fwt = metrics["metrics"]["bwt"], metrics["metrics"]["fwt"]
    values = [element.text for element in answer.all("p", **{"class": "value"})]
    assert values == [f"{bwt['value']:.1f}", f"{fwt['value']:+.1f}"]
    assert f"{bwt['range']['low']:.1f} to {bwt['range']['high']:.1f} over them" in answer.text
    assert f"95% interval {fwt['interval']['low']:+.1f} to {fwt['interval']['high']:+.1f} (too few seeds" in answer.text
    assert "After a task's own end, on average over the rest of the training," in answer.text
    assert "Practising first was worth" in answer.text
    assert "not that of Lopez-Paz and Ranzato (2017)" in answer.text


@pytest.mark.parametrize(
    ("seeds", "headings"),
    [(3, ["range over seeds", "interval, too few seeds for 95%"]), (6, ["95% interval", "range over seeds"])],
)
def test_the_papers_table_says_where_seeds_are_too_few_for_an_interval(
    tmp_path: Path, seeds: int, headings: list[str]
) -> None:
    suite = make_suite(seeds=range(seeds))
    study = write_study(tmp_path / "study", suite, realistic(suite))
    page = read_page(write_report(study))
    bwt = json.loads((study / "metrics.json").read_bytes())["metrics"]["bwt"]
    (shown, first, *_) = page.one("div", id="headline").one("table").rows()
    assert shown == ["metric", "value", "mean over seeds", "sd", "IQM", *headings, "seeds"]
    spread = [f"{bwt[key]['low']:.1f} to {bwt[key]['high']:.1f}" for key in ("range", "interval")]
    assert first[5:7] == (spread if seeds < 6 else spread[::-1])
    few = "trust the range over seeds"
    assert all((few in page.one("div", id=name).text) is (seeds < 6) for name in ("headline", "metrics-table"))
    printed = (study / "tables/headline.tex").read_text().replace(r" \\ ", " ")  # Long headings are stacked.
    assert ("too few seeds for 95\\%" in printed) is (seeds < 6)


def test_every_record_is_read_once(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def read(path: Path) -> list[Evaluation]:
        asked.append(path)
        return read_evaluations(path)

    monkeypatch.setattr(curves, "read_evaluations", read)
    write_report(study, out=tmp_path)
    assert sorted(asked) == sorted(study.glob("runs/*/evaluations.jsonl"))


def test_the_page_asks_nothing_of_a_network_and_is_below_8_megabytes(study: Path, page: Element) -> None:
    assert (study / "report.html").stat().st_size < 8_000_000
    assert not page.all("link") and not [script for script in page.all("script") if "src" in script.attributes]
    addresses = [e.attributes.get(key, "") for tag in ("a", "img") for e in page.all(tag) for key in ("href", "src")]
    assert not [address for address in addresses if "//" in address]
    policy = page.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    assert policy.startswith("default-src 'none'")
    assert "form-action 'none'" in policy, "plotly's button would send the figure to its maker's servers"
    assert "showSendToCloud: false" in page.all("script")[-1].text


def test_the_files_that_the_page_links_to_are_there(study: Path, page: Element) -> None:
    links = [link.attributes["href"] for link in page.all("a")]
    files = [link for link in links if not link.startswith("#")]
    assert len(files) >= 10 and all((study / file).is_file() for file in files)
    anchors = [link[1:] for link in links if link.startswith("#")]
    ids = [
        e.attributes["id"] for tag in ("section", "div", "h2", "figure") for e in page.all(tag) if "id" in e.attributes
    ]
    assert set(anchors) <= set(ids) and len(ids) == len(set(ids))


def test_figures_are_drawn_for_the_paper(study: Path) -> None:
    for name in ("learning_curves", "score_matrix", "interference"):
        assert (study / f"figures/{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (study / f"figures/{name}.pdf").read_bytes().startswith(b"%PDF")


def test_a_screen_reader_finds_headings_captions_scopes_and_the_numbers_of_each_figure(page: Element) -> None:
    assert len(page.all("h1")) == 1 and page.one("html").attributes["lang"] == "en"
    assert len(page.all("main")) == 1
    for table in page.all("table"):
        assert table.one("caption").text
        assert {cell.attributes["scope"] for cell in table.all("th")} == {"col", "row"}
    for figure in page.all("figure"):
        picture = figure.one("div", role="group")
        assert figure.attributes["aria-labelledby"] == figure.one("h3").attributes["id"]
        assert len(picture.attributes["aria-label"]) > 20
        assert len(figure.one("details").one("table").rows()) > 2
    for scrolled in page.all("div", **{"class": "scroll"}):
        assert scrolled.attributes["tabindex"] == "0" and scrolled.attributes["aria-label"]


def test_each_learning_curve_shades_the_area_of_its_d(page: Element, metrics: dict[str, Any]) -> None:
    for task in SUITE.tasks[:-1]:
        entry = metrics["tasks"][task]
        [lost] = [trace for trace in plots(page)[task]["data"] if trace["name"] == "lost"]
        whole = entry["C"] * (SUITE.ends[-1] - entry["end"])
        assert 100 * polygon_area(lost) / whole == pytest.approx(entry["D"], abs=0.01)


@pytest.mark.parametrize("practice", [30.0, -30.0, 4.0])
def test_the_compositions_curve_shades_the_area_of_fwt(tmp_path: Path, practice: float) -> None:
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE, practice=practice))
    drawn = plots(read_page(write_report(study)))["unlock-drawer"]["data"]
    areas = {trace["name"]: polygon_area(trace) for trace in drawn if trace["name"] in ("ahead", "behind")}
    fwt = json.loads((study / "metrics.json").read_bytes())["metrics"]["fwt"]["value"]
    assert (areas.get("ahead", 0) - areas.get("behind", 0)) / 80 == pytest.approx(fwt, abs=0.01)


def test_boundaries_seeds_and_means_are_drawn(page: Element) -> None:
    drawn = plots(page)["press-button"]
    assert [shape["x0"] for shape in drawn["layout"]["shapes"] if shape["type"] == "line"] == [80, 160, 240]
    [window] = [shape for shape in drawn["layout"]["shapes"] if shape["type"] == "rect"]
    assert (window["x0"], window["x1"]) == (80, 160)
    seeds = [trace for trace in drawn["data"] if "seed" in trace["name"]]
    [mean] = [trace for trace in drawn["data"] if trace["name"] == "practised first"]
    assert len(seeds) == 3
    assert mean["y"] == pytest.approx(np.mean([trace["y"] for trace in seeds], axis=0), abs=0.01)


def test_the_table_below_a_figure_has_its_numbers(page: Element) -> None:
    [figure] = [figure for figure in page.all("figure") if figure.one("h3").text == "reach"]
    rows = figure.one("table").rows()
    [mean] = [trace for trace in plots(page)["reach"]["data"] if trace["name"] == "practised first"]
    assert rows[0][:2] == ["step", "practised first, mean"]
    assert [float(row[1]) for row in rows[1:]] == pytest.approx(mean["y"], abs=0.06)


def test_every_metric_is_in_a_table_or_a_figure(page: Element, metrics: dict[str, Any]) -> None:
    single = {row[0]: row for row in page.one("div", id="metrics-table").one("table").rows()}
    undefined = {row[0]: row[1] for row in page.one("div", id="undefined-table").one("table").rows()}
    for name, metric in metrics["metrics"].items():
        if metric["value"] is None:
            assert undefined[name] == metric["reason"]
        elif isinstance(metric["value"], list):
            assert page.one("div", id=name)
        else:
            assert float(single[name][1].replace(",", "")) == pytest.approx(metric["value"], abs=0.006)


def test_the_report_says_how_much_is_the_evaluations_own(page: Element, metrics: dict[str, Any]) -> None:
    rows = {row[0]: row[1:] for row in page.one("div", id="evaluation-table").one("table").rows()}
    values = {name: metric["value"] for name, metric in metrics["metrics"].items()}
    for name, noise in (("bwt", f"{values['bwt_noise']:.1f}"), ("fwt", "–")):
        wanted = [f"{values[key]:.1f}" for key in (name, f"{name}_every_second", f"{name}_every_fourth")]
        assert rows[name.upper()] == [*wanted, noise]
    reach = metrics["tasks"]["reach"]
    assert rows["D_i of reach"] == [f"{reach['D']:.1f}", "–", "–", f"{reach['D_noise']:.1f}"]


def test_arrays_of_any_shape_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_METRICS", dict(registry._METRICS))
    tasks, layers, steps = SUITE.tasks, ("first", "second"), ("0", "0.5", "1")
    shapes: dict[str, tuple[tuple[str, ...], ...]] = {
        "line": (tasks,), "square": (tasks, tasks), "layers": (tasks, layers), "path": (tasks, steps),
        "cube": (layers, tasks, tasks),
    }  # fmt: skip
    for name, labels in shapes.items():
        values = np.arange(np.prod([len(axis) for axis in labels])).reshape([len(axis) for axis in labels]) / 4
        function = lambda view, values=values, labels=labels: Value(values, labels=labels)  # noqa: E731
        register_metric(Metric(name, function, "core", "none", "here", resampled=False))
    page = read_page(write_report(write_study(tmp_path / "study", SUITE, realistic(SUITE))))
    drawn = plots(page)
    assert drawn["line"]["data"][0]["x"] == list(tasks)
    assert [trace["name"] for trace in drawn["layers"]["data"]] == list(layers)
    assert [trace["name"] for trace in drawn["path"]["data"]] == list(tasks)
    assert drawn["path"]["data"][0]["x"] == [0, 0.5, 1]
    assert page.one("div", id="square").one("table").rows()[2][1:] == ["1.00", "1.25", "1.50", "1.75"]
    assert len(page.one("div", id="cube-2").one("table").rows()) == 5
    assert (tmp_path / "study/figures/path.pdf").is_file() and (tmp_path / "study/figures/cube-1.png").is_file()


def test_what_a_user_named_is_escaped(tmp_path: Path) -> None:
    task, method = "<img src=x onerror=alert(1)>", "</script><b>&"
    suite = make_suite(("$a_b$", task)).model_copy(update={"method": method})
    study = write_study(tmp_path / "<i>study", suite, realistic(suite))
    page = read_page(write_report(study))
    assert not page.all("img") and not page.all("b") and not page.all("i")
    assert page.one("h1").text == "<i>study"
    assert method in page.one("p", **{"class": "lead"}).text
    assert [figure.one("h3").text for figure in page.all("figure")][:2] == ["$a_b$", task]
    assert "<img" not in json.dumps(list(plots(page).values()))
    assert r"\$a\_b\$" in (study / "tables/tasks-table.tex").read_text().replace(r"\allowbreak{}", "")


def test_a_folder_whose_name_is_no_text_has_a_report(study: Path, tmp_path: Path) -> None:
    copy = tmp_path / os.fsdecode(b"caf\xe9")
    shutil.copytree(study, copy)
    assert "caf?" in write_report(copy).read_text(encoding="utf-8")


def test_a_study_half_done_shows_what_there_is_and_why_the_rest_is_not(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE.model_copy(update={"seeds": (0,)}), realistic(SUITE))
    (study / "suite.yaml").write_text(SUITE.to_yaml())
    write_run(study, SUITE, "sequential", 1, realistic(SUITE), state="failed", reason="no memory left", until=120)
    page = read_page(write_report(study))
    assert "1 of 3 seeds" in section(page, "answer").text
    runs = {row[0]: row[1:] for row in page.one("div", id="runs-table").one("table").rows()}
    assert runs["sequential-seed1"] == ["no", "failed at step 120 of 320: no memory left"]
    assert runs["sequential-seed0"] == ["yes", ""]
    assert "no memory left" in page.one("div", **{"class": "alarms"}).text
    [unfinished] = [trace for trace in plots(page)["reach"]["data"] if trace["name"].endswith("seed 1")]
    assert unfinished["line"]["dash"] == "dot" and unfinished["x"][-1] == 120


def test_what_each_run_cost_stands_beside_it(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE))
    run = StudyFolder(study).run(RunName("scratch", 0))
    write_status(run.status, Status(state="done", step=80, of=80, seconds={"learning": 2.0, "evaluation": 0.5}))
    run.cost.write_text(json.dumps({"peak_mem": 512_000_000}))
    rows = read_page(write_report(study)).one("div", id="runs-table").one("table").rows()
    assert rows[0] == ["run", "counts", "why not", "seconds", "steps/s", "peak memory, MB"]
    costs = {row[0]: row[3:] for row in rows[1:]}
    assert costs["scratch-seed0"] == ["2", "40", "512"]
    assert costs["scratch-seed1"] == ["–", "–", "–"]


def test_a_study_with_nothing_done_says_so(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE.model_copy(update={"seeds": ()}), realistic(SUITE))
    (study / "suite.yaml").write_text(SUITE.to_yaml())
    answer = section(read_page(write_report(study)), "answer").text
    assert answer.count("undefined") == 4 and "no seed has finished sequential" in answer


@pytest.mark.parametrize(("tasks", "regimes"), [(1, ["sequential", "scratch"]), (3, ["sequential"]), (2, ["scratch"])])
def test_any_suite_has_a_report(tmp_path: Path, tasks: int, regimes: list[str]) -> None:
    suite = make_suite([f"task-{i}" for i in range(tasks)], seeds=[0, 1], regimes=regimes)
    page = read_page(write_report(write_study(tmp_path / "study", suite, realistic(suite))))
    wanted = tasks if "sequential" in regimes else 1
    assert sum(figure.attributes["id"].startswith("figure-curve") for figure in page.all("figure")) == wanted


def test_other_regimes_are_drawn_beside(tmp_path: Path) -> None:
    suite = make_suite(budget=80, regimes=["sequential", "scratch", "isolated", "joint", "scratch-total"])
    drawn = plots(read_page(write_report(write_study(tmp_path / "study", suite, realistic(suite)))))
    [alone] = [trace for trace in drawn["press-button"]["data"] if trace["name"] == "isolated-press-button"]
    assert (alone["x"][0], alone["x"][-1]) == (80, 160)
    assert {"joint", "scratch-total"} <= {trace["name"] for trace in drawn["unlock-drawer"]["data"]}


def test_long_curves_are_thinned_for_drawing_and_it_is_said(tmp_path: Path) -> None:
    suite = make_suite(("reach", "unlock-drawer"), 600, every=1, episodes=1, seeds=[0])
    study = write_study(tmp_path / "study", suite, realistic(suite))
    page = read_page(write_report(study))
    [mean] = [trace for trace in plots(page)["reach"]["data"] if trace["name"] == "practised first"]
    assert POINTS <= len(mean["x"]) < POINTS + 10
    assert {0, 600, 1200} <= set(mean["x"])
    assert "Of up to 1,201 checkpoints, evenly spread ones are drawn" in section(page, "curves").text


def test_success_rates_have_a_report_of_their_own(study: Path) -> None:
    path = write_report(study, "success")
    assert path.name == "report-success.html"
    assert plots(read_page(path))["reach"]["layout"]["yaxis"]["title"]["text"] == "success (%)"
    assert (study / "tables-success/tasks-table.csv").is_file()


def test_a_report_has_the_tier_that_was_measured(study: Path, tmp_path: Path) -> None:
    assert measured_tier(study, "score") == "core"
    (tmp_path / "metrics.json").write_text('{"metrics": {"a": {"tier": "core"}, "b": {"tier": "extended"}}}')
    assert measured_tier(tmp_path, "score") == "extended"
    assert measured_tier(tmp_path / "none", "score") == "core"


def test_methods_and_environment_are_there_for_the_appendix(study: Path, page: Element) -> None:
    (study / "environment.json").write_text('{"python": "3.11.7", "packages": {"mujoco": "4.0.0"}, "cores": 2}')
    methods = section(read_page(write_report(study)), "methods").text
    assert "trains on reach, press-button, open-drawer, unlock-drawer, in this order" in methods
    assert "evaluated every 10 steps, and at the end of each task" in methods
    assert "mujoco 4.0.0" in methods and "n_steps: 5" in methods

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from PIL import Image

from etude.curriculum.metrics.compute import compute_metrics
from etude.curriculum.metrics.curves import Of, load_curves
from etude.curriculum.report.figures import AHEAD, BEHIND, LOST, draw, draw_learning_curves
from tests.curriculum.studies import make_suite, realistic, write_run, write_study

SUITE = make_suite(budget=80)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("studies") / "study", SUITE, realistic(SUITE))


def panels_of(study: Path, **options: Any) -> list[Any]:
    return draw(load_curves(study, **options)).get_axes()


def learning_curves(study: Path, of: Of = "score") -> tuple[Path, Path]:
    return draw_learning_curves(load_curves(study, of), study / "figures")


def shaded(panel: Any, colour: str) -> float:
    """The area of that colour in a panel, in score times steps."""
    total = 0.0
    for collection in panel.collections:
        if isinstance(collection, PolyCollection) and _is(collection.get_facecolor(), colour):
            for path in collection.get_paths():
                x, y = path.vertices.T
                total += abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
    return total


def _is(rgba: Any, colour: str) -> bool:
    wanted = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return len(rgba) > 0 and np.allclose(rgba[0][:3], wanted)


def lines_of(panel: Any, width: float) -> list[Any]:
    return [line for line in panel.lines if line.get_linewidth() == width and len(line.get_xdata()) > 2]


def test_png_and_pdf_are_written_the_same_each_time(study: Path) -> None:
    paths = learning_curves(study)
    assert [path.relative_to(study).as_posix() for path in paths] == [
        "figures/learning_curves.png",
        "figures/learning_curves.pdf",
    ]
    first = [path.read_bytes() for path in paths]
    assert first[1].startswith(b"%PDF")
    with Image.open(paths[0]) as image:
        assert image.width > 1000 and image.height > 800
    assert [path.read_bytes() for path in learning_curves(study)] == first


def test_success_rates_are_drawn_into_files_of_their_own(study: Path) -> None:
    assert [path.name for path in learning_curves(study, "success")] == [
        "learning_curves-success.png",
        "learning_curves-success.pdf",
    ]
    assert panels_of(study, of="success")[0].get_ylabel() == "success (%)"


def test_there_is_a_panel_a_task_with_its_boundaries(study: Path) -> None:
    panels = panels_of(study)
    assert [panel.get_title(loc="left").strip() for panel in panels] == list(SUITE.tasks)
    for panel in panels[:-1]:
        assert [line.get_xdata()[0] for line in panel.lines if line.get_linestyle() == "--"] == [80, 160, 240]


def test_seeds_are_thin_and_their_mean_thick(study: Path) -> None:
    for panel in panels_of(study):
        thin, thick = lines_of(panel, 0.7), lines_of(panel, 2.0)
        regimes = 2 if "composition" in panel.get_xlabel() else 1
        assert (len(thin), len(thick)) == (3 * regimes, regimes)
        mean = np.mean([line.get_ydata() for line in thin[:3]], axis=0)
        assert thick[0].get_ydata() == pytest.approx(mean)


def test_the_area_shaded_in_a_tasks_panel_is_its_share_of_bwt(study: Path) -> None:
    tasks = compute_metrics(study)["tasks"]
    for panel, entry in zip(panels_of(study)[:-1], list(tasks.values())[:-1], strict=True):
        whole = entry["C"] * (SUITE.ends[-1] - entry["end"])
        assert 100 * shaded(panel, LOST) / whole == pytest.approx(entry["D"])
        assert f"= {entry['D']:.1f}" in panel.texts[0].get_text()


@pytest.mark.parametrize("practice", [30.0, -30.0, 5.0])
def test_the_area_shaded_in_the_compositions_panel_is_fwt(tmp_path: Path, practice: float) -> None:
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE, practice=practice))
    fwt = compute_metrics(study)["metrics"]["fwt"]["value"]
    panel = panels_of(study)[-1]
    assert (shaded(panel, AHEAD) - shaded(panel, BEHIND)) / 80 == pytest.approx(fwt)
    assert panel.texts[0].get_text() == f"composition, FWT = {fwt:+.1f}"


def test_a_score_below_the_floor_is_shaded_to_the_floor(tmp_path: Path) -> None:
    suite = make_suite(("reach", "unlock-drawer"))
    study = write_study(tmp_path / "study", suite, lambda r, s, t, step: 50.0 if step <= 40 else -20.0, spread=0.0)
    assert shaded(panels_of(study)[0], LOST) == pytest.approx(50 * 5 + 50 * 30)


def test_a_task_that_was_not_learnt_has_nothing_shaded(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE, lambda r, s, t, step: -5.0 if t == "reach" else 50.0)
    panel = panels_of(study)[0]
    assert shaded(panel, LOST) == 0
    assert panel.texts[0].get_text() == "not learnt"


def test_an_unfinished_seed_is_dotted_and_enters_no_mean(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE.model_copy(update={"seeds": (0, 1)}), realistic(SUITE))
    (study / "suite.yaml").write_text(SUITE.to_yaml())
    write_run(study, SUITE, "sequential", 2, realistic(SUITE), state="running", until=120)
    panel = panels_of(study)[0]
    *_, unfinished = lines_of(panel, 0.7)
    assert unfinished.get_linestyle() == ":"
    assert unfinished.get_xdata()[-1] == 120
    [mean] = lines_of(panel, 2.0)
    assert mean.get_ydata() == pytest.approx(np.mean([x.get_ydata() for x in lines_of(panel, 0.7)[:2]], axis=0))
    figure = draw(load_curves(study))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert panel.texts[0].get_text().endswith(" (2 of 3 seeds)")
    assert "unfinished seed, not counted" in labels


def test_the_compositions_means_are_of_the_seeds_that_fwt_counts(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE.model_copy(update={"seeds": (0, 1)}), realistic(SUITE))
    (study / "suite.yaml").write_text(SUITE.to_yaml())
    write_run(study, SUITE, "scratch", 2, realistic(SUITE))
    panel = panels_of(study)[-1]
    fwt = compute_metrics(study)["metrics"]["fwt"]["value"]
    practised, fresh = lines_of(panel, 2.0)
    lead = np.trapezoid(practised.get_ydata() - fresh.get_ydata(), fresh.get_xdata()) / 80
    assert lead == pytest.approx(fwt)
    assert panel.texts[0].get_text() == f"composition, FWT = {fwt:+.1f} (2 of 3 seeds)"


@pytest.mark.parametrize("regime", ["sequential", "scratch"])
def test_one_regime_alone_can_be_drawn(tmp_path: Path, regime: str) -> None:
    suite = make_suite(regimes=[regime])
    study = write_study(tmp_path / "study", suite, realistic(suite))
    assert len(panels_of(study)) == (4 if regime == "sequential" else 1)


@pytest.mark.parametrize("tasks", [1, 2, 7])
def test_any_number_of_tasks_has_its_panels_and_one_legend(tmp_path: Path, tasks: int) -> None:
    suite = make_suite([f"task-{i}" for i in range(tasks)], seeds=[0, 1])
    study = write_study(tmp_path / "study", suite, realistic(suite))
    figure = draw(load_curves(study))
    assert len(figure.get_axes()) == tasks
    assert len(figure.legends) == 1


def test_a_study_with_nothing_done_can_be_drawn(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE.model_copy(update={"seeds": ()}), realistic(SUITE))
    (study / "suite.yaml").write_text(SUITE.to_yaml())
    learning_curves(study)


def test_drawing_leaves_matplotlib_as_it_was(study: Path) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    learning_curves(study)
    assert dict(matplotlib.rcParams) == before

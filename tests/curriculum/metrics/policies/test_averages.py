import numpy as np
import pytest

from etude.curriculum.metrics.bootstrap import draw_resamples
from etude.curriculum.metrics.curves import load_curves
from etude.curriculum.metrics.policies.averages import of_old_tasks, over_seeds
from etude.curriculum.metrics.policies.stored import Unmeasurable
from etude.curriculum.metrics.registry import Undefined, Value
from etude.curriculum.metrics.view import StudyView
from tests.curriculum.studies import make_suite, realistic, write_study

NAN = float("nan")
ROWS = np.array([[1.0, 10.0, NAN], [2.0, NAN, NAN], [6.0, 40.0, NAN]])


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> StudyView:
    suite = make_suite()
    return StudyView(
        load_curves(write_study(tmp_path_factory.mktemp("averages") / "study", suite, realistic(suite))), (0, 1, 2)
    )


def test_seeds_are_averaged_where_they_are_defined(view: StudyView) -> None:
    assert view.over_seeds(ROWS) == pytest.approx(np.array([3, 25, NAN]), nan_ok=True)
    assert StudyView(view.curves, (1,)).over_seeds(ROWS[1:2]) == pytest.approx(np.array([2, NAN, NAN]), nan_ok=True)


def test_a_resample_counts_each_seed_as_often_as_it_was_drawn(view: StudyView) -> None:
    draw = draw_resamples(view, 50)
    found = view.resampled(draw).over_seeds(ROWS)
    assert found.shape == (50, 3)
    for counts, means in zip(draw.seeds.astype(int), found, strict=True):
        drawn = np.repeat(ROWS, counts, axis=0)
        for column, mean in zip(drawn.T, means, strict=True):
            there = column[~np.isnan(column)]
            assert mean == pytest.approx(there.mean() if len(there) else NAN, nan_ok=True)


def test_what_no_seed_defines_or_one_cannot_measure_is_undefined_with_the_reason(view: StudyView) -> None:
    def fail(policies: object, seed: int) -> np.ndarray:
        raise Unmeasurable(f"seed {seed} lacks it")

    assert over_seeds(view, lambda policies, seed: np.array(NAN), empty="nothing moves") == Undefined("nothing moves")
    assert over_seeds(view, fail) == Undefined("seed 0 lacks it")
    found = over_seeds(view, lambda policies, seed: np.array([seed, NAN]))
    assert isinstance(found, Value) and found.value == pytest.approx(np.array([1, NAN]), nan_ok=True)


def test_old_tasks_are_those_before_the_newest() -> None:
    values = np.array([[1, 2, 3], [1, 2, 3], [4, 5, 6], [7, 9, 11]], np.float64)
    assert of_old_tasks(values) == pytest.approx(np.array([NAN, NAN, 4, 8]), nan_ok=True)

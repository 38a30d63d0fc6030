import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from etude.curriculum.metrics.policies import (
    dormant_share,
    effective_rank,
    feature_movement,
    linear_cka,
    principal_components,
    probe_r2,
    srank,
)
from etude.envs.errors import RequestError
from tests.curriculum.metrics.policies import slow

NUMBERS = st.floats(-10, 10).map(lambda value: round(value, 3))
ALTERNATE = np.arange(40) % 2 == 1


def matrices(rows: int, columns: int) -> st.SearchStrategy[np.ndarray]:
    return arrays(np.float64, (rows, columns), elements=NUMBERS)


def random_matrix(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, columns))


def rotation(size: int) -> np.ndarray:
    return np.linalg.qr(random_matrix(size, size, 9))[0]


def test_features_are_fully_alike_to_themselves_turned_scaled_and_moved() -> None:
    x = random_matrix(30, 5)
    assert linear_cka(x, x) == pytest.approx(1)
    assert linear_cka(x, 3 * x @ rotation(5) + 7) == pytest.approx(1)


def test_features_that_do_not_vary_together_are_not_alike() -> None:
    assert linear_cka([[1], [-1], [1], [-1]], [[1], [1], [-1], [-1]]) == 0


def test_likeness_of_a_feature_to_itself_with_another_beside_it() -> None:
    """X = (x), Y = (x, y) with x and y uncorrelated and equally large: |Y'X|² = 16, |X'X| = 4, |Y'Y| = 4 √2."""
    x, y = [1, -1, 1, -1], [1, 1, -1, -1]
    assert linear_cka(np.array([x]).T, np.array([x, y]).T) == pytest.approx(1 / np.sqrt(2))


def test_likeness_to_features_that_never_vary_is_undefined() -> None:
    assert np.isnan(linear_cka(np.ones((4, 2)), random_matrix(4, 2)))


@given(matrices(6, 3), matrices(6, 2))
def test_likeness_is_that_of_the_slow_loops(x: np.ndarray, y: np.ndarray) -> None:
    wanted = slow.linear_cka(x.tolist(), y.tolist())
    found = linear_cka(x, y)
    if np.isfinite(wanted) and np.ptp(x, axis=0).max() > 1e-2 and np.ptp(y, axis=0).max() > 1e-2:
        assert found == pytest.approx(wanted, abs=1e-9)
        assert -1e-12 <= found <= 1 + 1e-12
        assert found == pytest.approx(linear_cka(y, x), abs=1e-9)


def test_movement_is_the_mean_way_over_the_mean_length() -> None:
    assert feature_movement([[3, 4], [0, 5]], [[3, 4], [0, 5]]) == 0
    assert feature_movement([[3, 4], [0, 5]], [[0, 0], [0, 5]]) == pytest.approx(0.5)
    assert np.isnan(feature_movement(np.zeros((2, 2)), np.ones((2, 2))))


@given(matrices(5, 3), matrices(5, 3))
def test_movement_is_that_of_the_slow_loops(before: np.ndarray, after: np.ndarray) -> None:
    assert feature_movement(before, after) == pytest.approx(slow.movement(before.tolist(), after.tolist()), nan_ok=True)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_the_effective_rank_of_the_identity_is_its_size_and_of_one_direction_1(size: int) -> None:
    assert effective_rank(np.eye(size)) == pytest.approx(size)
    assert effective_rank(np.outer(np.arange(1, 6), np.ones(size))) == pytest.approx(1)


def test_ranks_of_two_directions_by_hand() -> None:
    """Singular values 3 and 1: shares 3/4 and 1/4, entropy 0.5623, its exponential 1.7548."""
    assert effective_rank(np.diag([3, 1])) == pytest.approx(1.7548, abs=1e-4)
    assert srank(np.diag([98, 1, 1])) == 2, "98 of 100 are too few, 99 are enough"
    assert srank(np.diag([99, 1, 0])) == 1
    assert srank(np.diag([1, 1, 1, 1])) == 4
    assert srank(np.diag([5, 0, 0, 0])) == 1


def test_features_that_are_all_0_have_no_rank() -> None:
    assert np.isnan(effective_rank(np.zeros((3, 2)))) and np.isnan(srank(np.zeros((3, 2))))


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=5))
def test_ranks_are_those_of_the_slow_loops(values: list[float]) -> None:
    """A matrix with these singular values, turned from both sides."""
    turned = np.linalg.qr(random_matrix(8, len(values)))[0] @ np.diag(values) @ rotation(len(values)).T
    assert effective_rank(turned) == pytest.approx(slow.effective_rank(values), rel=1e-9)
    reached = np.cumsum(sorted(values, reverse=True)) / sum(values)
    if np.abs(reached - 0.99).min() > 1e-9:
        assert srank(turned) == slow.srank(values, 0.99)
    assert 1 <= effective_rank(turned) <= len(values) + 1e-9


def test_units_that_hardly_answer_are_dormant() -> None:
    """Means 0, 0.04, 2 and 2 of a layer, 1.01 in all: those up to 0.02525 are dormant. Of the other layer, none."""
    layer = [[0, 0.04, 4, -2], [0, -0.04, 0, 2]]
    assert dormant_share([layer]) == 1 / 4
    assert dormant_share([layer, [[1, 1], [1, 1]]]) == 1 / 6
    assert dormant_share([[[0, 0.02, 4, -2], [0, -0.02, 0, 2]]]) == 2 / 4


def test_a_silent_layer_is_dormant_and_no_layer_has_no_share() -> None:
    assert dormant_share([np.zeros((3, 4)), np.ones((3, 4))]) == 0.5
    assert np.isnan(dormant_share([]))


@given(st.lists(matrices(4, 5), min_size=1, max_size=3), st.sampled_from([0.025, 0.5]))
def test_the_dormant_share_is_that_of_the_slow_loops(layers: list[np.ndarray], threshold: float) -> None:
    strengths = [np.abs(layer).mean(axis=0) for layer in layers]
    if all(np.abs(strength - threshold * strength.mean()).min() > 1e-9 for strength in strengths):
        wanted = slow.dormant_share([layer.tolist() for layer in layers], threshold)
        assert dormant_share(layers, threshold) == pytest.approx(wanted)


def test_a_probe_reads_what_the_features_say_and_nothing_else() -> None:
    x = random_matrix(40, 3)
    assert probe_r2(x, x @ [[1, 0], [2, 1], [0, -3]] + 5, ALTERNATE) == pytest.approx(1, abs=1e-3)
    assert probe_r2(np.ones((40, 3)), random_matrix(40, 2, 1), ALTERNATE) <= 0
    assert probe_r2(random_matrix(40, 3, 1), random_matrix(40, 2, 2), ALTERNATE) < 0.5


def test_a_probe_of_one_feature_by_hand() -> None:
    """Seen x = -1, 1 and y = -2, 2: weight 2 / (1 + penalty) = 1 at a penalty of 1. Held out x = 2, -2 and y = 3, -3:
    predicted 2 and -2, residual 1 + 1, variation 9 + 9."""
    held_out = np.array([False, False, True, True])
    assert probe_r2([[-1], [1], [2], [-2]], [[-2], [2], [3], [-3]], held_out, penalty=1) == pytest.approx(1 - 2 / 18)


def test_a_probe_that_has_nothing_to_learn_from_or_be_tried_on_is_undefined() -> None:
    x = random_matrix(40, 3)
    for held_out in (np.zeros(40, bool), np.ones(40, bool)):
        assert np.isnan(probe_r2(x, x, held_out))
    assert np.isnan(probe_r2(x, np.ones((40, 1)), ALTERNATE))


@given(matrices(12, 3), matrices(12, 2))
def test_a_probe_is_the_least_squares_solution_with_the_penalty_as_further_rows(x: np.ndarray, y: np.ndarray) -> None:
    out = np.arange(12) % 3 == 0
    variance = x[~out].var(axis=0).mean()
    if variance < 1e-2 or y[out].std(axis=0).max() < 1e-2:
        return
    moved = x - x[~out].mean(axis=0)
    count, penalty = int((~out).sum()), 0.1
    rows = np.vstack([moved[~out], np.sqrt(penalty * variance * count) * np.eye(3)])
    weights = np.linalg.lstsq(rows, np.vstack([y[~out] - y[~out].mean(axis=0), np.zeros((3, 2))]), rcond=None)[0]
    gaps = y[out] - y[~out].mean(axis=0) - moved[out] @ weights
    wanted = 1 - (gaps**2).sum() / ((y[out] - y[out].mean(axis=0)) ** 2).sum()
    assert probe_r2(x, y, out, penalty) == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_principal_components_are_the_directions_of_most_variance() -> None:
    along = np.array([[3, 4]]) / 5
    line = np.arange(-3, 4)[:, None] * along + 2
    found = principal_components(line)
    assert found[:, 0] == pytest.approx(np.arange(-3, 4))
    assert found[:, 1] == pytest.approx(np.zeros(7), abs=1e-12)


def test_shapes_that_do_not_fit_are_refused_by_name() -> None:
    with pytest.raises(RequestError, match="second: 3 observations"):
        linear_cka(np.ones((4, 2)), np.ones((3, 2)))
    with pytest.raises(RequestError, match="after: shape"):
        feature_movement(np.ones((4, 2)), np.ones((4, 3)))
    with pytest.raises(RequestError, match="features: shape"):
        effective_rank([1, 2])
    with pytest.raises(RequestError, match="targets: 3"):
        probe_r2(np.ones((4, 2)), np.ones((3, 2)), np.ones(4, bool))
    with pytest.raises(RequestError, match="no 3 components"):
        principal_components(np.ones((4, 2)), 3)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from etude.curriculum.metrics.policies import (
    barrier,
    calibration_error,
    cosines,
    nearest_shares,
    off_diagonal_mean,
)
from etude.envs.errors import RequestError
from tests.curriculum.metrics.policies import slow

WHOLE = st.integers(-4, 4).map(float)
NUMBERS = st.floats(-100, 100).map(lambda value: round(value, 3))


def test_each_step_counts_as_the_task_whose_oracle_would_have_done_it() -> None:
    oracles = [[[0, 0]] * 4, [[1, 0]] * 4, [[0, 9]] * 4]
    actions = [[0.1, 0], [0.9, 0], [1, 1], [0, 8]]
    assert nearest_shares(actions, oracles, own=0).tolist() == [0.25, 0.5, 0.25]


def test_where_oracles_agree_the_own_task_comes_first_and_others_share() -> None:
    oracles = [[[1.0]], [[1.0]], [[5.0]]]
    assert nearest_shares([[1.1]], oracles, own=0).tolist() == [1, 0, 0]
    assert nearest_shares([[1.1]], oracles, own=1).tolist() == [0, 1, 0]
    assert nearest_shares([[1.1]], oracles, own=2).tolist() == [0.5, 0.5, 0]


def test_an_oracle_that_cannot_act_there_is_no_choice() -> None:
    oracles = [[[1.0], [1.0]], [[0.0], [np.nan]], [[0.0], [0.0]]]
    shares = nearest_shares([[0.1], [0.9]], oracles, own=0)
    assert shares[[0, 2]].tolist() == [0.5, 0.5] and np.isnan(shares[1])
    with pytest.raises(RequestError, match="own task"):
        nearest_shares([[0.1], [0.9]], oracles, own=1)


@given(
    arrays(np.float64, (5, 2), elements=WHOLE), arrays(np.float64, (3, 5, 2), elements=WHOLE), st.sampled_from(range(3))
)
def test_shares_are_those_of_the_slow_loops(actions: np.ndarray, oracles: np.ndarray, own: int) -> None:
    shares = nearest_shares(actions, oracles, own)
    assert shares.tolist() == pytest.approx(slow.nearest_shares(actions.tolist(), oracles.tolist(), own))
    assert shares.sum() == pytest.approx(1)


def test_a_critic_is_calibrated_where_the_mean_of_what_follows_is_what_it_says() -> None:
    assert calibration_error([1, 1, 2, 2], [0, 2, 1, 3]) == 0
    assert calibration_error([1, 1, 2, 2], [3, 3, 2, 2]) == 1
    assert calibration_error([5], [7]) == 2


def test_gaps_of_opposite_sign_offset_each_other_within_a_bin_only() -> None:
    """With 2 bins from 0 to 4: 0 and 1 fall into the first, 3 and 4 into the second."""
    assert calibration_error([0, 1, 3, 4], [1, 0, 3, 4], bins=2) == 0
    assert calibration_error([0, 1, 3, 4], [1, 2, 2, 3], bins=2) == 1
    assert calibration_error([0, 1, 3, 4], [1, 0, 3, 4], bins=4) == 0.5


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=30), st.sampled_from([1, 4, 15]))
def test_calibration_is_that_of_the_slow_loops(pairs: list[tuple[float, float]], bins: int) -> None:
    predicted, observed = zip(*pairs, strict=True)
    low, high = min(predicted), max(predicted)
    edges = low + (high - low) / bins * np.arange(1, bins)
    if high == low or bins == 1 or np.abs(np.subtract.outer(predicted, edges)).min() > 1e-9:
        wanted = slow.calibration_error(predicted, observed, bins)
        assert calibration_error(predicted, observed, bins) == pytest.approx(wanted, abs=1e-9)


def test_a_barrier_is_the_deepest_fall_below_the_line_between_the_ends() -> None:
    assert barrier([80, 60, 40]) == 0
    assert barrier([80, 30, 40]) == 30
    assert barrier([80, 90, 40]) == 0
    assert barrier([0, 10, 20, 0, 100]) == 75


@given(st.lists(NUMBERS, min_size=2, max_size=11))
def test_barriers_are_those_of_the_slow_loops(path: list[float]) -> None:
    assert barrier(path) == pytest.approx(slow.barrier(path), abs=1e-9)


def test_gradients_that_pull_together_apart_and_across() -> None:
    found = cosines([[1, 0], [2, 0], [-3, 0], [0, 5]])
    assert found[0].tolist() == [1, 1, -1, 0]
    assert off_diagonal_mean(found[:3, :3]) == pytest.approx((1 - 1 - 1) / 3)
    assert np.isnan(cosines([[1, 0], [0, 0]])[0, 1])
    assert np.isnan(off_diagonal_mean(np.ones((1, 1))))


@given(arrays(np.float64, (3, 4), elements=NUMBERS))
def test_cosines_are_those_of_the_slow_loops(vectors: np.ndarray) -> None:
    found = cosines(vectors)
    for i, first in enumerate(vectors):
        for j, second in enumerate(vectors):
            if np.abs(first).max() and np.abs(second).max():
                assert found[i, j] == pytest.approx(slow.cosine(first.tolist(), second.tolist()), abs=1e-9)


def test_shapes_that_do_not_fit_are_refused_by_name() -> None:
    with pytest.raises(RequestError, match="references: shape"):
        nearest_shares([[1.0]], [[[1.0, 2.0]]], own=0)
    with pytest.raises(RequestError, match="observed: shape"):
        calibration_error([1, 2], [1])
    with pytest.raises(RequestError, match="path: shape"):
        barrier([1])
    with pytest.raises(RequestError, match="vectors: shape"):
        cosines([1, 2])

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etude.curriculum.metrics.statistics import (
    average_ranks,
    critical_difference,
    iqm,
    over_seeds,
    paired_test,
    rank_methods,
    sign_flip,
)
from etude.envs.errors import RequestError

VALUE = st.integers(-20, 20)


def test_the_interquartile_mean_cuts_a_quarter_off_either_end() -> None:
    assert iqm([100, 1, 2, 3, 4, 5, 6, -100]) == 3.5
    assert iqm([1, 2, 9]) == 4
    assert iqm([9, 0, 1, 0, 2, 1, 9, 3]) == 1.75


def test_one_seed_has_no_spread() -> None:
    assert over_seeds([3.0]) == {"mean": 3.0, "sd": None, "iqm": 3.0}
    assert over_seeds([1.0, 3.0]) == {"mean": 2.0, "sd": pytest.approx(2**0.5), "iqm": 2.0}


@settings(max_examples=50, deadline=None)
@given(st.lists(VALUE, min_size=2, max_size=5))
def test_the_sign_flip_test_counts_all_ways_to_turn_the_signs(differences: list[int]) -> None:
    extreme = 0
    ways = list(product((-1, 1), repeat=len(differences)))
    for signs in ways:
        turned = sum(sign * difference for sign, difference in zip(signs, differences, strict=True))
        extreme += abs(turned) >= abs(sum(differences))
    assert sign_flip(differences) == pytest.approx(extreme / len(ways))


def test_three_seeds_cannot_say_more_than_a_p_of_a_quarter() -> None:
    found = paired_test([30, 40, 50], [10, 11, 12])
    assert (found["test"], found["p"], found["smallest_p"]) == ("sign-flip", 0.25, 0.25)
    assert found["difference"] == pytest.approx(29)


@pytest.mark.parametrize("seeds", [1, 2, 3, 4, 5, 6, 7, 10])
def test_the_smallest_p_is_what_the_clearest_difference_gives(seeds: int) -> None:
    found = paired_test(np.arange(seeds) + 5.0, np.zeros(seeds))
    assert found["p"] == pytest.approx(found["smallest_p"])
    assert found["test"] == ("wilcoxon" if seeds >= 6 else "sign-flip")


def test_equal_methods_do_not_differ() -> None:
    assert paired_test([1, 2, 3], [1, 2, 3])["p"] == 1
    assert paired_test(range(8), range(8))["p"] == 1


def test_what_is_not_paired_is_refused() -> None:
    with pytest.raises(RequestError, match=r"shapes \(3,\) and \(2,\)"):
        paired_test([1, 2, 3], [1, 2])
    with pytest.raises(RequestError, match="finite"):
        paired_test([1, float("nan")], [1, 2])


@pytest.mark.parametrize(("methods", "quantile"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_is_that_of_demsars_table(methods: int, quantile: float) -> None:
    expected = quantile * (methods * (methods + 1) / (6 * 14)) ** 0.5
    assert critical_difference(methods, 14) == pytest.approx(expected, abs=1e-3)


def test_ranks_and_friedman_are_those_of_demsars_example() -> None:
    """Demšar 2006, table 6: C4.5 and three of its variants on 14 data sets, by area under the curve."""
    columns = {
        "C4.5": (0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.000, 0.940, 0.619, 0.972, 0.957),
        "C4.5+m": (0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.000, 0.962, 0.666, 0.981, 0.978),
        "C4.5+cf": (0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.000, 0.965, 0.614, 0.9751, 0.946),
        "C4.5+m+cf": (0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.000, 0.962, 0.669, 0.975, 0.970),
    }
    table = {f"set {place}": {name: values[place] for name, values in columns.items()} for place in range(14)}
    found = rank_methods(table, higher_is_better=True)
    assert [round(rank, 3) for rank in found["average_ranks"].values()] == [3.143, 2.000, 2.893, 1.964]
    assert found["critical_difference"] == pytest.approx(1.25, abs=0.005)
    squares = sum(rank**2 for rank in found["average_ranks"].values())
    uncorrected = 12 * 14 / (4 * 5) * (squares - 4 * 5**2 / 4)
    assert uncorrected == pytest.approx(9.28, abs=0.01)  # the paper's, which does without the correction for ties
    assert found["friedman"]["statistic"] > uncorrected
    assert found["friedman"]["p"] < 0.05


def test_the_best_has_rank_1_whichever_way_is_better() -> None:
    values = [[1.0, 2.0, 3.0], [1.0, 1.0, 5.0]]
    assert average_ranks(values, higher_is_better=True).tolist() == [2.75, 2.25, 1.0]
    assert average_ranks(values, higher_is_better=False).tolist() == [1.25, 1.75, 3.0]


def test_two_methods_are_ranked_without_friedman_and_one_suite_is_refused() -> None:
    assert rank_methods({"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 2}}, True)["friedman"] is None
    with pytest.raises(RequestError, match="1 suites and 2 methods"):
        rank_methods({"a": {"x": 1, "y": 2}}, True)
    with pytest.raises(RequestError, match="b has x, z, but a x, y"):
        rank_methods({"a": {"x": 1, "y": 2}, "b": {"x": 1, "z": 2}}, True)

"""The metrics against figures that others have published with the numbers they are of."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
import pytest

from etude.curriculum.metrics.curves import Curves
from etude.curriculum.metrics.policies import linear_cka
from etude.curriculum.metrics.statistics import iqm, paired_test, rank_methods, sign_flip
from tests.curriculum.metrics.fake import curves_of, value_of
from tests.curriculum.studies import make_suite

TASKS = ("reach", "press-button", "open-drawer", "lift", "push", "unlock-drawer")
L2METRICS = (
    (1, 1, 1, 1.6427633, 1, 1),
    (95.964866, 58.614143, 72.485294, 3.1686578, 74.525401, 12.938394),
    (100.93483, 100.57137, 98.694026, 1, 90.496218, 7.7555587),
    (100.98306, 101, 100.99205, 7.1744226, 97.522891, 6.5527786),
    (100.97269, 100.99147, 100.9913, 100.43536, 95.77713, 24.676333),
    (101, 100.99899, 101, 100.56926, 101, 20.027526),
    (100.99939, 100.9876, 100.98414, 101, 100.99469, 96.386427),
)
"""A row a test block, a column a task: `term_perf` of the file named in the tests."""
DARWIN = (6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75)
"""How much taller the crossed of 15 pairs of maize plants were, in eighths of an inch."""


def of_matrix(rows: Sequence[Sequence[float]], fresh: Sequence[float] | None = None) -> Curves:
    """Records whose score matrix is given, untrained agent first; with `fresh`, also success rates in percent.

    Args:
        rows: (N + 1, N).
        fresh: (N,) what an agent that trains on one task alone scores at any time.
    """
    tasks = (*TASKS[: len(rows[0]) - 1], TASKS[-1])
    regimes = ["sequential"] if fresh is None else ["sequential", "scratch", "isolated"]
    suite = make_suite(tasks, 10, episodes=1, seeds=[0], regimes=regimes)
    scores = {
        "sequential": {
            (10 * end, task): score for end, row in enumerate(rows) for task, score in zip(tasks, row, strict=True)
        }
    }
    for task, score in zip(tasks, fresh or (), strict=False):
        scores["scratch" if task == tasks[-1] else f"isolated-{task}"] = {(0, task): score, (10, task): score}
    return curves_of(suite, [scores], successes=fresh is not None)


def test_performance_maintenance_is_that_of_l2metrics() -> None:
    """l2metrics 2022, examples/evaluation_results/ll_metrics.tsv and ..._regime.tsv.

    Its first scenario, 3-high_condensed-1625259873-5291016: six tasks, each trained once, 20 experiences a task and
    test block; `perf_maintenance_mrlep`.
    """
    assert value_of("l2_performance_maintenance", of_matrix(L2METRICS)) == pytest.approx(1.1559975821, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "published", "ratios"),
    [
        (
            "l2_forward_transfer",
            15.9092965604,
            (58.614143, 72.485294, 1.9288584, 74.525401, 12.938394, 1.3615731, 0.31559103, 1.2143003, 0.59942206,
             7.1744226, 1.077646, 0.84491381, 0.98209896, 3.7657816, 0.81160868),
        ),
        (
            "l2_backward_transfer",
            1.0041368892,
            (1.0517895, 1.0004778, 1.0042619, 0.9998973, 0.9999155, 0.99999261, 1.0002705, 1.0000745, 1.0000861,
             1.0013331, 0.99999394, 0.99988716, 0.99984293, 1.004283, 0.9999474),
        ),
    ],
)  # fmt: skip
def test_transfer_is_of_the_pairs_of_l2metrics(name: str, published: float, ratios: Sequence[float]) -> None:
    """l2metrics 2022, examples/evaluation_results/ll_metrics.json, the same scenario.

    It gives the ratio after / before of every pair of tasks, and their mean; a ratio r is a contrast of
    (r - 1) / (r + 1).
    """
    assert fmean(ratios) == pytest.approx(published, abs=1e-5)
    contrasts = [(ratio - 1) / (ratio + 1) for ratio in ratios]
    assert value_of(name, of_matrix(L2METRICS)) == pytest.approx(fmean(contrasts), abs=1e-6)


@pytest.mark.parametrize(
    ("rows", "performance", "forgetting", "forward"),
    [
        pytest.param([[0, 0], [0, 0], [4, 0]], 0.020, -0.020, 0.0, id="finetuning"),
        pytest.param([[0, 0], [0, 0], [1, 0]], 0.005, -0.005, 0.0, id="ewc"),
    ],
)
def test_continual_worlds_three_are_those_of_its_example(
    rows: Sequence[Sequence[float]], performance: float, forgetting: float, forward: float
) -> None:
    """Wołczyk et al. 2021, the repository continual_world: examples/logs and the table of nb_produce_results.ipynb.

    reach-v1, then push-v1, 1,000 steps each, 2 seeds a method. Success at an end is there the mean of the last five
    evaluations: of fine-tuning 4% in either seed on reach-v1 (0.1 twice, 0.2 once), of EWC 2% in one.
    """
    curves = of_matrix(rows, fresh=(0, 0))
    assert value_of("cw_performance", curves) == pytest.approx(performance)
    assert value_of("cw_forgetting", curves) == pytest.approx(forgetting)
    assert value_of("cw_forward_transfer", curves) == forward


@pytest.mark.parametrize(
    ("name", "first", "second", "published"),
    [
        ("acc", (1, 1), (0, 0.5), 0.75),
        ("bwt_lopez_paz", (1, 0.5), (0.5, 0), -0.5),
        ("fwt_lopez_paz", (1, 0.25), (0.125, 0.25), 0.125),
        ("forgetting", (1, 0.25), (0.25, 0.25), 0.75),
    ],
)
def test_the_matrix_metrics_are_those_of_continuum(
    name: str, first: Sequence[float], second: Sequence[float], published: float
) -> None:
    """Douillard & Lesort 2021, Continuum, tests/test_metrics.py: accuracies on two tasks after each, and its results.

    Its forward transfer takes what an untrained agent scores to be 0.
    """
    rows = [(0, 0), *zip(first, second, strict=True)]
    assert value_of(name, of_matrix(rows)) == pytest.approx(published)


def test_forgetting_and_transfer_are_those_of_avalanche() -> None:
    """Lomonaco et al. 2021, Avalanche, tests/test_metrics.py: 1 first and 0.4 last are 0.6 forgotten, -0.6 gained."""
    assert value_of("forgetting", of_matrix([(0, 0), (1, 0), (0.4, 0)])) == pytest.approx(0.6)
    assert value_of("fwt_lopez_paz", of_matrix([(0, 1), (0, 0.4), (0, 0)])) == pytest.approx(-0.6)


def test_likeness_is_that_of_kornblith_et_al() -> None:
    """Kornblith et al. 2019, google-research, representation_similarity/Demo.ipynb: linear CKA of its random data."""
    drawn = np.random.RandomState(1337)
    first = drawn.randn(100, 10)
    second = drawn.randn(100, 10) + first
    assert linear_cka(first, second) == pytest.approx(0.55761, abs=5e-6)


@pytest.mark.parametrize(
    ("scores", "published"), [([[1, 2], [2, 2], [1, 1], [2, 1]], 1.5), ([[1, 1], [2, 2], [3, 3]], 2)]
)
def test_the_interquartile_mean_is_that_of_rliable(scores: Sequence[Sequence[float]], published: float) -> None:
    """Agarwal et al. 2021, rliable, tests/rliable/metrics_test.py."""
    assert iqm(scores) == published


def test_the_sign_flip_test_is_fishers_of_darwins_plants() -> None:
    """Fisher 1935, The design of experiments, section 21: 1,726 of 32,768 ways, 5.267%, lie as far out."""
    assert sign_flip(DARWIN) == 1726 / 32768


def test_wilcoxons_test_is_that_of_scipys_example() -> None:
    """Darwin's plants again; scipy's documentation of wilcoxon gives the p of the two-sided test."""
    assert paired_test(DARWIN, [0] * 15)["p"] == pytest.approx(0.04126, abs=1e-5)


def test_wilcoxons_test_is_that_of_hollander_and_wolfe() -> None:
    """Hollander & Wolfe 1973, p. 29: depression of 9 patients at two visits.

    R's documentation of wilcox.test gives the p of the one-sided test, 0.01953.
    """
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    assert paired_test(before, after)["p"] / 2 == pytest.approx(0.01953, abs=5e-6)


def test_friedmans_test_is_that_of_hollander_and_wolfe() -> None:
    """Hollander & Wolfe 1973, p. 140: 22 players run to second base in three ways (round out, narrow and wide angle).

    R's documentation of friedman.test gives 11.143 with the correction for ties, p = 0.003805.
    """
    seconds = (
        (5.40, 5.50, 5.55), (5.85, 5.70, 5.75), (5.20, 5.60, 5.50), (5.55, 5.50, 5.40), (5.90, 5.85, 5.70),
        (5.45, 5.55, 5.60), (5.40, 5.40, 5.35), (5.45, 5.50, 5.35), (5.25, 5.15, 5.00), (5.85, 5.80, 5.70),
        (5.25, 5.20, 5.10), (5.65, 5.55, 5.45), (5.60, 5.35, 5.45), (5.05, 5.00, 4.95), (5.50, 5.50, 5.40),
        (5.45, 5.55, 5.50), (5.55, 5.55, 5.35), (5.45, 5.50, 5.55), (5.50, 5.45, 5.25), (5.65, 5.60, 5.40),
        (5.70, 5.65, 5.55), (6.30, 6.30, 6.25),
    )  # fmt: skip
    ways = ("round out", "narrow angle", "wide angle")
    table = {str(player): dict(zip(ways, times, strict=True)) for player, times in enumerate(seconds)}
    found = rank_methods(table, higher_is_better=False)["friedman"]
    assert found["statistic"] == pytest.approx(11.143, abs=5e-4)
    assert found["p"] == pytest.approx(0.003805, abs=5e-7)

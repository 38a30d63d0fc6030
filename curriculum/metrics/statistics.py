"""Statistics over seeds, methods and suites; scipy's, in the words of this project.

scipy.stats takes longer to import than most commands take, and is imported where it is used.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from etude.curriculum.metrics.arrays import FloatArray
from etude.envs.errors import RequestError

ENOUGH_FOR_WILCOXON = 6
LEVEL = 0.05


def iqm(values: ArrayLike) -> float:
    """The interquartile mean: the mean of what is left when a quarter is cut off at either end.

    Of fewer than 4 values nothing is cut off. Source: Agarwal et al. 2021, Deep reinforcement learning at the edge of
    the statistical precipice.

    Args:
        values: at least one, in any shape.
    """
    from scipy import stats

    return float(stats.trim_mean(np.asarray(values, dtype=np.float64), 0.25, axis=None))


def over_seeds(values: Sequence[float]) -> dict[str, float | None]:
    """Mean, standard deviation (of the sample, n - 1; None of a single one) and interquartile mean."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return {"mean": float(np.mean(values)), "sd": spread, "iqm": iqm(values)}


def paired_test(first: ArrayLike, second: ArrayLike) -> dict[str, Any]:
    """Whether two methods differ, from what both measured on the same seeds.

    Wilcoxon's signed-rank test from 6 seeds up; of fewer, the exact permutation test that turns the signs of the
    differences. Both are two-sided.

    Args:
        first: (S,) a value a seed.
        second: (S,) the other method's, on the same seeds.

    Returns:
        `test`, `p`, `smallest_p` (the least that so few seeds can give, however clear the difference), `difference`
        (the mean of first - second), `n` (seeds).

    Raises:
        RequestError: the shapes differ, there is no seed, or a value is not finite.
    """
    from scipy import stats

    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape or len(one) == 0:
        raise RequestError(f"a paired test: shapes {one.shape} and {other.shape}, must be (S,) both, S at least 1")
    differences = one - other
    if not np.isfinite(differences).all():
        raise RequestError("a paired test: values must be finite numbers")
    count = len(differences)
    smallest = min(1.0, 2.0 / 2**count)
    if not differences.any():
        name, p = ("wilcoxon" if count >= ENOUGH_FOR_WILCOXON else "sign-flip"), 1.0
    elif count >= ENOUGH_FOR_WILCOXON:
        name, p = "wilcoxon", float(stats.wilcoxon(differences, method="auto").pvalue)
    else:
        name, p = "sign-flip", sign_flip(differences)
    return {
        "test": name,
        "p": p,
        "smallest_p": smallest,
        "difference": float(differences.mean()),
        "n": count,
    }


def sign_flip(differences: ArrayLike) -> float:
    """The exact two-sided p of the mean of paired differences, over all ways to turn their signs.

    Args:
        differences: (S,), S at most 20 or so: there are 2^S ways.
    """
    from scipy import stats

    values = np.asarray(differences, dtype=np.float64)
    if len(values) == 1:
        return 1.0
    return float(
        stats.permutation_test(
            (values,),
            np.mean,
            permutation_type="samples",
            n_resamples=2 ** len(values),
            alternative="two-sided",
            vectorized=True,
        ).pvalue
    )


def average_ranks(values: ArrayLike, higher_is_better: bool) -> FloatArray:
    """(M,) the mean rank of every method over the suites; 1 is best, ties share the mean of their ranks.

    Args:
        values: (D, M) a row a suite, a column a method.
        higher_is_better: whether a larger value has the smaller rank.
    """
    from scipy import stats

    table = np.asarray(values, dtype=np.float64)
    ranks: FloatArray = stats.rankdata(-table if higher_is_better else table, axis=1).mean(axis=0)
    return ranks


def critical_difference(methods: int, suites: int, level: float = LEVEL) -> float:
    """Nemenyi's critical difference of average ranks: those of two methods differ that lie further apart.

    `q sqrt(M (M + 1) / (6 D))`, q the quantile of the studentised range for M groups and infinitely many degrees of
    freedom, over sqrt 2. Source: Demšar 2006, Statistical comparisons of classifiers over multiple data sets.
    """
    from scipy import stats

    quantile = stats.studentized_range.ppf(1 - level, methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(methods * (methods + 1) / (6 * suites)))


def rank_methods(table: Mapping[str, Mapping[str, float]], higher_is_better: bool) -> dict[str, Any]:
    """Methods over several suites: average ranks, Friedman's test, and the critical difference.

    Args:
        table: of each suite, the value of each method, the same methods in all.
        higher_is_better: whether a larger value is better.

    Returns:
        `suites`, `methods`, `average_ranks` (of each method), `friedman` (`statistic`, `p`; None of 2 methods, where
        it is not defined) and `critical_difference` at `level`.

    Raises:
        RequestError: fewer than 2 suites or methods, or a method is missing in a suite.
    """
    from scipy import stats

    suites = list(table)
    methods = list(table[suites[0]]) if suites else []
    if len(suites) < 2 or len(methods) < 2:
        raise RequestError(f"ranks: {len(suites)} suites and {len(methods)} methods, need at least 2 of either")
    for suite in suites:
        if set(table[suite]) != set(methods):
            raise RequestError(f"ranks: {suite} has {', '.join(table[suite])}, but {suites[0]} {', '.join(methods)}")
    values = np.array([[table[suite][method] for method in methods] for suite in suites])
    friedman = None
    if len(methods) > 2 and (np.ptp(values, axis=1) > 0).any():
        tested = stats.friedmanchisquare(*values.T)
        friedman = {"statistic": float(tested.statistic), "p": float(tested.pvalue)}
    return {
        "suites": suites,
        "methods": methods,
        "average_ranks": dict(zip(methods, average_ranks(values, higher_is_better).tolist(), strict=True)),
        "friedman": friedman,
        "critical_difference": critical_difference(len(methods), len(suites)),
        "level": LEVEL,
    }

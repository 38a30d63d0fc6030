"""Records in memory, whose scores are given: one episode, a floor of 0 and an oracle of 100, so return is score."""

from collections.abc import Mapping, Sequence
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from etude.curriculum.metrics.curves import Curves, Of, Reference, RegimeRecords
from etude.curriculum.metrics.registry import Undefined, Value, get_metric
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.plan import groups, plan_run
from etude.curriculum.suite import Suite
from tests.curriculum.studies import make_suite

Scores = Mapping[str, Mapping[tuple[int, str], float]]
"""Of each group, the score at every (step, task)."""

EVERY = ("sequential", "scratch", "isolated", "joint", "scratch-total", "leave-one-out")
EDGES = (0.0, 5.0, 9.0, 10.0, 20.0, 50.0)
"""Scores at and around which metrics decide something: learnt, learnt well enough to tell, halfway."""
TASKS = ("reach", "press-button", "open-drawer", "unlock-drawer")


def curves_of(suite: Suite, seeds: Sequence[Scores], *, successes: bool = False, of: Of = "score") -> Curves:
    """Records of one seed or more; with `successes`, the given numbers are success rates in percent too."""
    regimes = {}
    for group in groups(suite):
        checkpoints = plan_run(suite, group).checkpoints
        returns = np.full((len(seeds), len(suite.tasks), len(checkpoints), 1), np.nan)
        for row, scores in enumerate(seeds):
            for column, checkpoint in enumerate(checkpoints):
                for task in checkpoint.tasks:
                    returns[row, suite.tasks.index(task), column] = scores[group][checkpoint.step, task]
        steps = np.array([checkpoint.step for checkpoint in checkpoints])
        rates = returns / 100 if successes else np.where(np.isnan(returns), np.nan, 0.0)
        lengths = np.where(np.isnan(returns), np.nan, 60.0)
        regimes[group] = RegimeRecords(steps, suite.seeds, returns, rates, lengths, {})
    reference = Reference(np.array([100.0]), (np.array([0.0]),))
    return Curves(Path("nowhere"), suite, of, {task: reference for task in suite.tasks}, regimes)


def value_of(name: str, curves: Curves) -> Any:
    """What a metric makes of the average over all seeds; None where it is undefined."""
    result = get_metric(name).function(StudyView(curves, curves.suite.seeds))
    if isinstance(result, Undefined):
        return None
    assert isinstance(result, Value)
    return np.asarray(result.value).tolist()


@st.composite
def studies(draw: st.DrawFn, low: float = -30, high: float = 130, most_orders: int = 1) -> tuple[Suite, Scores]:
    """A suite of 2 to 4 tasks in every regime, with budgets and checkpoints of any spacing, and its scores."""
    tasks = (*TASKS[: draw(st.integers(1, 3))], TASKS[-1])
    budget = {task: 10 * draw(st.integers(2, 5)) for task in tasks}
    also = draw(st.lists(st.integers(1, 4), unique=True, max_size=3))
    orders = draw(st.integers(1, min(most_orders, factorial(len(tasks) - 1))))
    suite = make_suite(tasks, budget, every=10, also=also, episodes=1, seeds=[0], regimes=EVERY, orders=orders)
    number = st.floats(low, high, width=32) | st.sampled_from(EDGES)
    scores = {}
    for group in groups(suite):
        cells = [(point.step, task) for point in plan_run(suite, group).checkpoints for task in point.tasks]
        scores[group] = dict(zip(cells, draw(st.lists(number, min_size=len(cells), max_size=len(cells))), strict=True))
    return suite, scores

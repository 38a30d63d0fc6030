"""Continual World's three metrics, of success rates between 0 and 1 whatever the others read."""

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray, mean_of_defined
from etude.curriculum.metrics.registry import Undefined, Value, metric
from etude.curriculum.metrics.tasks import final_successes, learnt_successes
from etude.curriculum.metrics.trajectory import own_window
from etude.curriculum.metrics.view import StudyView

SOURCE = "Wołczyk et al. 2021, Continual World: a robotic benchmark for continual reinforcement learning"


@metric(direction="higher", source=SOURCE)
def cw_performance(view: StudyView) -> Value:
    """The mean success rate over the tasks at the end of training."""
    return Value(final_successes(view).mean(axis=-1))


@metric(direction="lower", source=SOURCE)
def cw_forgetting(view: StudyView) -> Value:
    """The mean fall of a task's success rate from its own end to the end of training; the last task counts, as 0."""
    return Value((learnt_successes(view) - final_successes(view)).mean(axis=-1))


@metric(direction="higher", source=SOURCE, regimes=("sequential", "isolated"))
def cw_forward_transfer(view: StudyView) -> Value | Undefined:
    """The mean gain in area under a task's own learning curve over a fresh agent's, as a share of what was to gain."""
    points = areas(view.point)[1]
    counts = points < 1
    left_out = {
        task: "always solved by a fresh agent" for task, area in zip(view.tasks, points, strict=True) if area >= 1
    }
    if not counts.any():
        return Undefined("a fresh agent always solves every task")
    practised, fresh = (area[..., counts] for area in areas(view))
    return Value(mean_of_defined((practised - fresh) / np.where(fresh < 1, 1 - fresh, np.nan)), left_out)


def areas(view: StudyView) -> tuple[FloatArray, FloatArray]:
    """(..., N) the mean success rate over a task's own budget, in the sequence and in a fresh agent."""
    practised, fresh = [], []
    for j, task in enumerate(view.tasks):
        window = own_window(view, j)
        group = "scratch" if task == view.tasks[-1] else f"isolated-{task}"
        for found, curves, steps in (
            (practised, view.successes("sequential")[..., j, window], view.steps("sequential")[window]),
            (fresh, view.successes(group)[..., j, :], view.steps(group)),
        ):
            found.append(np.trapezoid(curves, steps) / (steps[-1] - steps[0]))
    return np.stack(practised, axis=-1), np.stack(fresh, axis=-1)

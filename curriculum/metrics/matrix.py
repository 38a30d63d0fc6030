"""Metrics of the score matrix: every task's score before training, and at the end of each task's training."""

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray, mean_of_defined
from etude.curriculum.metrics.registry import Undefined, Value, metric
from etude.curriculum.metrics.view import StudyView

LOPEZ_PAZ = "Lopez-Paz & Ranzato 2017, Gradient episodic memory for continual learning"
CHAUDHRY = "after Chaudhry et al. 2018, Riemannian walk for incremental learning"


def matrix(view: StudyView) -> FloatArray:
    """(..., N + 1, N) `A[i, j]`, the score of task j at `b_i`; row 0 is the untrained agent."""
    columns = np.searchsorted(view.steps("sequential"), [0, *view.ends])
    return np.swapaxes(view.scores("sequential")[..., columns], -1, -2)


def learnt(scores: FloatArray) -> FloatArray:
    """(..., N) `A[j, j]` of a matrix."""
    return np.diagonal(scores[..., 1:, :], axis1=-2, axis2=-1)


def isolated_ends(view: StudyView) -> FloatArray:
    """(..., N) the last score of every task in a fresh agent of its own; the composition's is that of scratch."""
    groups = [*(f"isolated-{task}" for task in view.tasks[:-1]), "scratch"]
    return np.stack([view.scores(group)[..., j, -1] for j, group in enumerate(groups)], axis=-1)


@metric(direction="none", source="docs/metrics/matrix.md")
def score_matrix(view: StudyView) -> Value:
    """`A[i, j]`: what every other metric of this page reads."""
    return Value(matrix(view), labels=(("untrained", *(f"after {task}" for task in view.tasks)), view.tasks))


@metric(direction="higher", source=LOPEZ_PAZ)
def acc(view: StudyView) -> Value:
    """The mean score over all tasks at the end of training."""
    return Value(matrix(view)[..., -1, :].mean(axis=-1))


@metric(direction="higher", source="Rebuffi et al. 2017, iCaRL: incremental classifier and representation learning")
def aia(view: StudyView) -> Value:
    """Average incremental accuracy: after each task the mean over the tasks trained so far, then the mean of these."""
    scores = matrix(view)
    rows = [scores[..., i, :i].mean(axis=-1) for i in range(1, len(view.tasks) + 1)]
    return Value(np.mean(rows, axis=0))


@metric(direction="higher", source=LOPEZ_PAZ, tasks=2)
def bwt_lopez_paz(view: StudyView) -> Value:
    """The mean change of a task's score from its own end to the end of training."""
    scores = matrix(view)
    return Value((scores[..., -1, :-1] - learnt(scores)[..., :-1]).mean(axis=-1))


@metric(direction="higher", source=LOPEZ_PAZ, tasks=2)
def fwt_lopez_paz(view: StudyView) -> Value:
    """The mean gain on a task before any training on it, over the untrained agent."""
    scores = matrix(view)
    before = np.diagonal(scores[..., 1:-1, 1:], axis1=-2, axis2=-1)
    return Value((before - scores[..., 0, 1:]).mean(axis=-1))


@metric(direction="higher", source="docs/metrics/matrix.md", regimes=("sequential", "isolated"), tasks=2)
def fwt_isolated(view: StudyView) -> Value:
    """The mean lead, over a fresh agent with the same budget, at the end of every task but the first."""
    return Value((learnt(matrix(view)) - isolated_ends(view))[..., 1:].mean(axis=-1))


@metric(direction="lower", source=CHAUDHRY, tasks=2)
def forgetting(view: StudyView) -> Value:
    """The mean drop from a task's best score since its own end, the end of training aside, to its last."""
    scores = matrix(view)
    return Value((_best(scores) - scores[..., -1, :-1]).mean(axis=-1))


@metric(direction="lower", source="docs/metrics/matrix.md", tasks=2)
def relative_forgetting(view: StudyView) -> Value | Undefined:
    """That drop as a share of the best score, over the tasks whose best score lies above 0."""
    points = _best(matrix(view.point))
    counts = points > 0
    left_out = {
        task: f"best {view.curves.of} from its own end on {best:z.1f}, not above 0"
        for task, best in zip(view.tasks, points, strict=False)
        if best <= 0
    }
    if not counts.any():
        return Undefined(f"no task's {view.curves.of} was above 0 from its own end on")
    scores = matrix(view)
    best = _best(scores)[..., counts]
    shares = (best - scores[..., -1, :-1][..., counts]) / np.where(best > 0, best, np.nan)
    return Value(mean_of_defined(shares), left_out)


@metric(direction="higher", source="Riemer et al. 2019, Learning to learn without forgetting")
def learning_acc(view: StudyView) -> Value:
    """The mean score of every task at its own end."""
    return Value(learnt(matrix(view)).mean(axis=-1))


@metric(direction="lower", source=CHAUDHRY, regimes=("sequential", "joint"))
def intransigence(view: StudyView) -> Value:
    """The mean lead, over every task at its own end, of an agent trained on all tasks at once, at its end."""
    return Value((view.scores("joint")[..., -1] - learnt(matrix(view))).mean(axis=-1))


@metric(direction="lower", source=CHAUDHRY, regimes=("sequential", "isolated"))
def intransigence_isolated(view: StudyView) -> Value:
    """The mean lead, over every task at its own end, of a fresh agent of its own with the same budget."""
    return Value((isolated_ends(view) - learnt(matrix(view))).mean(axis=-1))


def _best(scores: FloatArray) -> FloatArray:
    """(..., N - 1) `max_{l in [j, N-1]} A[l, j]` of every task but the last."""
    tasks = scores.shape[-1]
    return np.stack([scores[..., j + 1 : tasks, j].max(axis=-1) for j in range(tasks - 1)], axis=-1)

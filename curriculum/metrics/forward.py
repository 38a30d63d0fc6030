"""Forward transfer (FWT): what practising first was worth on the composition."""

import numpy as np
from numpy.typing import ArrayLike

from etude.curriculum.metrics.arrays import FloatArray, Steps, checked_scores, checked_steps, number
from etude.envs.errors import RequestError


def forward_transfer(steps: ArrayLike, sequential: ArrayLike, scratch: ArrayLike) -> float:
    """The lead of the practised agent over a fresh one, averaged over the composition's training.

    `(1/T) ∫_0^T (R_seq(t) - R_scr(t)) dt` by the trapezoidal rule; in points of score, higher is better, negative
    where practice harmed. Definition: docs/metrics/fwt.md. It is not the FWT of Lopez-Paz and Ranzato (2017).

    Args:
        steps: (K,) checkpoints of the composition's own training in environment steps, increasing; K >= 2.
        sequential: (K,) the composition's scores after the other tasks, t counted from the composition's start.
        scratch: (K,) its scores in a fresh agent given the same steps.

    Raises:
        RequestError: shapes do not fit, steps do not increase, fewer than 2 checkpoints, a score is not finite.
    """
    steps = checked_steps(steps)
    if len(steps) < 2:
        raise RequestError("steps: forward transfer needs at least 2 checkpoints")
    curves = {"sequential": sequential, "scratch": scratch}
    checked = {name: checked_scores(name, curve, steps.shape) for name, curve in curves.items()}
    for name, curve in checked.items():
        wrong = np.flatnonzero(~np.isfinite(curve))
        if len(wrong):
            raise RequestError(f"{name}: the score at step {number(steps[wrong[0]])} is {curve[wrong[0]]}, not finite")
    return float(lead(steps, checked["sequential"], checked["scratch"]))


def lead(steps: Steps, ahead: FloatArray, behind: FloatArray) -> FloatArray:
    """The time average of `ahead - behind`, (..., K) each; arguments are not checked."""
    return np.asarray(np.trapezoid(ahead - behind, steps) / (steps[-1] - steps[0]))

"""The composition after practice against the same from scratch, and what each primitive has to do with it."""

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray, Steps
from etude.curriculum.metrics.headline import fwt, practised_and_fresh
from etude.curriculum.metrics.registry import Undefined, Value, metric
from etude.curriculum.metrics.view import StudyView

TAYLOR_STONE = "Taylor & Stone 2009, Transfer learning for reinforcement learning domains"
THRESHOLD = 50.0
BOTH = ("sequential", "scratch")


def steps_to(steps: Steps, curves: FloatArray, threshold: float = THRESHOLD) -> FloatArray:
    """The steps after which curves first reach a threshold, on the straight lines between checkpoints.

    Args:
        steps: (K,) checkpoints, from 0 on.
        curves: (..., K) scores.
        threshold: the score to reach.

    Returns:
        (...), nan where it is never reached.
    """
    above = curves >= threshold
    first = above.argmax(axis=-1)
    before = np.maximum(first - 1, 0)
    low, high = (np.take_along_axis(curves, place[..., None], axis=-1)[..., 0] for place in (before, first))
    share = np.where(high > low, (threshold - low) / np.where(high > low, high - low, 1.0), 0.0)
    reached = np.where(first > 0, steps[before] + share * (steps[first] - steps[before]), steps[0])
    return np.where(above.any(axis=-1), reached, np.nan)


@metric(direction="higher", source=TAYLOR_STONE, regimes=BOTH, tasks=2)
def time_to_threshold(view: StudyView) -> Value | Undefined:
    """The steps that practice saves on the way to a score of 50 on the composition."""
    practised, fresh = (time_to(view, practised=flag) for flag in (True, False))
    for time in (practised, fresh):
        if isinstance(time, Undefined):
            return time
    assert isinstance(practised, Value) and isinstance(fresh, Value)
    return Value(fresh.value - practised.value)


@metric(direction="lower", source=TAYLOR_STONE, regimes=BOTH, tasks=2)
def time_to_threshold_sequential(view: StudyView) -> Value | Undefined:
    """The steps of the composition's own training after which the practised agent scores 50."""
    return time_to(view, practised=True)


@metric(direction="lower", source=TAYLOR_STONE, regimes=BOTH, tasks=2)
def time_to_threshold_scratch(view: StudyView) -> Value | Undefined:
    """The steps after which a fresh agent scores 50 on the composition."""
    return time_to(view, practised=False)


@metric(direction="higher", source=TAYLOR_STONE, regimes=BOTH, tasks=2)
def jumpstart(view: StudyView) -> Value | Undefined:
    """The practised agent's lead before any training on the composition."""
    return _lead_at(view, 0)


@metric(direction="higher", source=TAYLOR_STONE, regimes=BOTH, tasks=2)
def asymptote(view: StudyView) -> Value | Undefined:
    """The practised agent's lead at the end of the training on the composition."""
    return _lead_at(view, -1)


@metric(direction="higher", source="docs/metrics/fwt.md", regimes=(*BOTH, "leave-one-out"), tasks=2)
def leave_one_out(view: StudyView) -> Value | Undefined:
    """What each primitive brings to fwt: fwt with all of them less fwt without that one."""
    whole = fwt(view)
    if isinstance(whole, Undefined):
        return whole
    shares = []
    for task in view.tasks[:-1]:
        without = fwt(view, f"sequential-without-{task}")
        if isinstance(without, Undefined):
            return without
        shares.append(whole.value - without.value)
    return Value(np.stack(shares, axis=-1), labels=(view.tasks[:-1],))


def _lead_at(view: StudyView, place: int) -> Value | Undefined:
    pair = practised_and_fresh(view)
    if isinstance(pair, Undefined):
        return pair
    _, practised, fresh = pair
    return Value(practised[..., place] - fresh[..., place])


def time_to(view: StudyView, practised: bool, threshold: float = THRESHOLD) -> Value | Undefined:
    """The steps of the composition's own training after which the practised agent, or a fresh one, reaches a score."""
    pair = practised_and_fresh(view.point)
    if isinstance(pair, Undefined):
        return pair
    which, name = (1, "the practised agent") if practised else (2, "an agent from scratch")
    if np.isnan(steps_to(pair[0], pair[which], threshold)):
        return Undefined(f"{name} never reaches a {view.curves.of} of {threshold:g} on {view.tasks[-1]}")
    pair = practised_and_fresh(view)
    assert not isinstance(pair, Undefined)
    return Value(steps_to(pair[0], pair[which], threshold))

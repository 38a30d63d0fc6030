"""The headline metrics a second time: loops over exact fractions, sharing nothing with the code they check."""

from collections.abc import Sequence
from fractions import Fraction


def slow_share(
    steps: Sequence[float], curve: Sequence[float], end: float, last: float, floor: float
) -> Fraction | None:
    """D_i of one task, None if it was not learnt; steps, curve, floor are taken as the exact values they hold."""
    points = [
        (Fraction(step), Fraction(score)) for step, score in zip(steps, curve, strict=True) if end <= step <= last
    ]
    learnt, bottom = points[0][1], Fraction(floor)
    if learnt <= bottom:
        return None
    deficits = [(step, max(Fraction(0), learnt - max(score, bottom))) for step, score in points]
    area = Fraction(0)
    for (left, deficit), (right, next_deficit) in zip(deficits, deficits[1:], strict=False):
        area += (right - left) * (deficit + next_deficit) / 2
    return 100 * area / ((points[-1][0] - points[0][0]) * (learnt - bottom))


def slow_bwt(
    steps: Sequence[float], scores: Sequence[Sequence[float]], ends: Sequence[float], floor: float = 0.0
) -> Fraction | None:
    """The mean D_i of the learnt tasks, None if there is none."""
    shares = [slow_share(steps, curve, end, ends[-1], floor) for curve, end in zip(scores[:-1], ends[:-1], strict=True)]
    learnt = [share for share in shares if share is not None]
    return sum(learnt, Fraction(0)) / len(learnt) if learnt else None


def slow_fwt(steps: Sequence[float], sequential: Sequence[float], scratch: Sequence[float]) -> Fraction:
    """The mean lead over the time between the first and the last checkpoint."""
    area = Fraction(0)
    for left in range(len(steps) - 1):
        width = Fraction(steps[left + 1]) - Fraction(steps[left])
        for at in (left, left + 1):
            area += width * (Fraction(sequential[at]) - Fraction(scratch[at])) / 2
    return area / (Fraction(steps[-1]) - Fraction(steps[0]))

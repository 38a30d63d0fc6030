"""The metrics of policies once more, in plain loops over numbers, as slow as they are easy to check."""

import math
from collections.abc import Sequence

Matrix = Sequence[Sequence[float]]


def columns(rows: Matrix) -> list[list[float]]:
    return [[row[c] for row in rows] for c in range(len(rows[0]))]


def centred(rows: Matrix) -> list[list[float]]:
    means = [sum(column) / len(rows) for column in columns(rows)]
    return [[value - mean for value, mean in zip(row, means, strict=True)] for row in rows]


def gram(rows: Matrix) -> list[list[float]]:
    """The similarity of every two observations."""
    return [[sum(a * b for a, b in zip(one, other, strict=True)) for other in rows] for one in rows]


def linear_cka(first: Matrix, second: Matrix) -> float:
    """By similarities of observations (HSIC), rather than by features."""
    k, m = gram(centred(first)), gram(centred(second))

    def hsic(one: Matrix, other: Matrix) -> float:
        return sum(a * b for p, q in zip(one, other, strict=True) for a, b in zip(p, q, strict=True))

    size = math.sqrt(hsic(k, k) * hsic(m, m))
    return hsic(k, m) / size if size > 0 else math.nan


def movement(before: Matrix, after: Matrix) -> float:
    moved = length = 0.0
    for old, new in zip(before, after, strict=True):
        moved += math.sqrt(sum((b - a) ** 2 for a, b in zip(old, new, strict=True)))
        length += math.sqrt(sum(a**2 for a in old))
    return moved / length if length > 0 else math.nan


def dormant_share(layers: Sequence[Matrix], threshold: float) -> float:
    dormant = units = 0
    for layer in layers:
        strengths = [sum(abs(value) for value in column) / len(layer) for column in columns(layer)]
        middle = sum(strengths) / len(strengths)
        for strength in strengths:
            units += 1
            dormant += strength <= threshold * middle
    return dormant / units


def effective_rank(values: Sequence[float]) -> float:
    """Of singular values that are known."""
    total = sum(values)
    entropy = 0.0
    for value in values:
        if value > 0:
            entropy -= value / total * math.log(value / total)
    return math.exp(entropy)


def srank(values: Sequence[float], kept: float) -> int:
    """Of singular values that are known."""
    reached = 0.0
    for k, value in enumerate(sorted(values, reverse=True), 1):
        reached += value
        if reached >= kept * sum(values):
            return k
    raise AssertionError


def nearest_shares(actions: Matrix, references: Sequence[Matrix], own: int) -> list[float]:
    counts = [0.0] * len(references)
    for step, action in enumerate(actions):
        distances = [math.dist(action, reference[step]) for reference in references]
        near = [j for j, distance in enumerate(distances) if distance <= min(distances) + 1e-6]
        near = [own] if own in near else near
        for j in near:
            counts[j] += 1 / len(near)
    return [count / len(actions) for count in counts]


def calibration_error(predicted: Sequence[float], observed: Sequence[float], bins: int) -> float:
    low, high = min(predicted), max(predicted)
    error = 0.0
    for b in range(bins):
        held = []
        for value, came in zip(predicted, observed, strict=True):
            place = 0 if high == low else min(int((value - low) / ((high - low) / bins)), bins - 1)
            if place == b:
                held.append((value, came))
        if held:
            gap = sum(value for value, _ in held) / len(held) - sum(came for _, came in held) / len(held)
            error += len(held) / len(predicted) * abs(gap)
    return error


def barrier(path: Sequence[float]) -> float:
    worst = 0.0
    for p, score in enumerate(path):
        share = p / (len(path) - 1)
        worst = max(worst, (1 - share) * path[0] + share * path[-1] - score)
    return worst


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(first, second, strict=True)) / (math.hypot(*first) * math.hypot(*second))

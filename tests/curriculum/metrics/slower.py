"""Every metric of the records a second time: loops over (step, task), sharing nothing with the code they check.

Each takes the suite's tasks, their ends, and the scores of each group at every (step, task); None is undefined.
"""

from collections.abc import Callable, Mapping, Sequence
from math import exp, sqrt

Scores = Mapping[str, Mapping[tuple[int, str], float]]
Slow = Callable[[Sequence[str], Sequence[int], Scores], float | None]


def mean(values: Sequence[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def steps_of(scores: Mapping[tuple[int, str], float], task: str, first: int, last: int) -> list[int]:
    """The steps in [first, last] at which a task was evaluated."""
    return sorted(step for step, name in scores if name == task and first <= step <= last)


def area(points: Sequence[tuple[float, float]]) -> float:
    total = 0.0
    for (left, low), (right, high) in zip(points, points[1:], strict=False):
        total += (right - left) * (low + high) / 2
    return total


def start(ends: Sequence[int], j: int) -> int:
    return ends[j - 1] if j > 0 else 0


def at(scores: Scores, ends: Sequence[int], i: int, task: str) -> float:
    """A[i, task], i = 0 being the untrained agent."""
    return scores["sequential"][0 if i == 0 else ends[i - 1], task]


def isolated(tasks: Sequence[str], ends: Sequence[int], scores: Scores, j: int) -> float:
    group = "scratch" if j == len(tasks) - 1 else f"isolated-{tasks[j]}"
    return scores[group][ends[j] - start(ends, j), tasks[j]]


def acc(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return mean([at(scores, ends, len(tasks), task) for task in tasks])


def aia(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return mean([mean([at(scores, ends, i, task) for task in tasks[:i]]) for i in range(1, len(tasks) + 1)])


def bwt_lopez_paz(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    n = len(tasks)
    return mean([at(scores, ends, n, tasks[j]) - at(scores, ends, j + 1, tasks[j]) for j in range(n - 1)])


def fwt_lopez_paz(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return mean([at(scores, ends, j, tasks[j]) - at(scores, ends, 0, tasks[j]) for j in range(1, len(tasks))])


def fwt_isolated(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return mean([at(scores, ends, j + 1, tasks[j]) - isolated(tasks, ends, scores, j) for j in range(1, len(tasks))])


def best(tasks: Sequence[str], ends: Sequence[int], scores: Scores, j: int) -> float:
    return max(at(scores, ends, row, tasks[j]) for row in range(j + 1, len(tasks)))


def forgetting(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    n = len(tasks)
    return mean([best(tasks, ends, scores, j) - at(scores, ends, n, tasks[j]) for j in range(n - 1)])


def relative_forgetting(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    n, shares = len(tasks), []
    for j in range(n - 1):
        top = best(tasks, ends, scores, j)
        if top > 0:
            shares.append((top - at(scores, ends, n, tasks[j])) / top)
    return mean(shares) if shares else None


def learning_acc(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return mean([at(scores, ends, j + 1, task) for j, task in enumerate(tasks)])


def intransigence(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return mean([scores["joint"][ends[-1], task] - at(scores, ends, j + 1, task) for j, task in enumerate(tasks)])


def intransigence_isolated(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return mean([isolated(tasks, ends, scores, j) - at(scores, ends, j + 1, task) for j, task in enumerate(tasks)])


def after(tasks: Sequence[str], ends: Sequence[int], scores: Scores, j: int, last: int | None = None) -> list[float]:
    """The scores of task j after its own end."""
    curve = scores["sequential"]
    return [curve[s, tasks[j]] for s in steps_of(curve, tasks[j], ends[j] + 1, ends[-1] if last is None else last)]


def min_acc(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return mean([min(after(tasks, ends, scores, j)) for j in range(len(tasks) - 1)])


def wc_acc(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    n = len(tasks)
    return at(scores, ends, n, tasks[-1]) / n + (1 - 1 / n) * min_acc(tasks, ends, scores)


def stability_gap(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return mean(
        [
            at(scores, ends, j + 1, tasks[j]) - min(after(tasks, ends, scores, j, ends[j + 1]))
            for j in range(len(tasks) - 1)
        ]
    )


def windowed_forgetting(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    drops, curve = [], scores["sequential"]
    for j in range(len(tasks) - 1):
        width = (ends[j] - start(ends, j)) / 10
        steps = steps_of(curve, tasks[j], ends[j], ends[-1])
        pairs = [(s, t) for s in steps for t in steps if s < t <= s + width]
        if not pairs:
            return None
        drops.append(max(0.0, max(curve[s, tasks[j]] - curve[t, tasks[j]] for s, t in pairs)))
    return mean(drops)


def aaa(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    curve, means = scores["sequential"], []
    for step in sorted({step for step, _ in curve} - {0}):
        means.append(mean([curve[step, task] for j, task in enumerate(tasks) if start(ends, j) < step]))
    return mean(means)


def lca(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    curve, means = scores["sequential"], []
    for j, task in enumerate(tasks):
        begin = start(ends, j)
        early = [curve[s, task] for s in steps_of(curve, task, begin, ends[j]) if s - begin <= (ends[j] - begin) / 10]
        if len(early) < 2:
            return None
        means.append(mean(early))
    return mean(means)


def missing(tasks: Sequence[str], ends: Sequence[int], scores: Scores, decay: float) -> float | None:
    curve, shares = scores["sequential"], []
    for j in range(len(tasks) - 1):
        top = at(scores, ends, j + 1, tasks[j])
        if top <= 0:
            continue
        steps = steps_of(curve, tasks[j], ends[j] + 1, ends[-1])
        total = weights = 0.0
        for s in steps:
            age = (s - steps[0]) / (steps[-1] - steps[0]) if len(steps) > 1 else 0.0
            weights += exp(-decay * age)
            total += exp(-decay * age) * max(0.0, top - curve[s, tasks[j]]) / top
        shares.append(total / weights)
    return mean(shares) if shares else None


def curve_forgetting(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    return missing(tasks, ends, scores, 0.0)


def curve_forgetting_early(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    return missing(tasks, ends, scores, 2.0)


def share_lost(curve: Mapping[tuple[int, str], float], task: str, end: int, steps: Sequence[int]) -> float | None:
    """D_i of the checkpoints `steps`, None if the task was not learnt."""
    top = curve[end, task]
    if top <= 0:
        return None
    deficits = [(s, max(0.0, top - max(curve[s, task], 0.0))) for s in steps if s >= end]
    return 100 * area(deficits) / ((steps[-1] - end) * top)


def lost_of(tasks: Sequence[str], ends: Sequence[int], scores: Scores, least: float, every: int = 1) -> float | None:
    """The mean D_i of the tasks that scored more than 0 and at least `least`, of every second, ... checkpoint."""
    curve, steps = scores["sequential"], {0}
    for j in range(len(tasks)):
        own = steps_of(curve, tasks[j], start(ends, j), ends[j])
        steps |= {*own[::every], own[-1]}
    shares = []
    for j, task in enumerate(tasks[:-1]):
        share = share_lost(curve, task, ends[j], sorted(steps))
        if share is not None and curve[ends[j], task] >= least:
            shares.append(share)
    return mean(shares) if shares else None


def bwt(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    return lost_of(tasks, ends, scores, 0)


def bwt_gated(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    return lost_of(tasks, ends, scores, 10)


def bwt_every_second(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    return lost_of(tasks, ends, scores, 0, 2)


def bwt_every_fourth(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    return lost_of(tasks, ends, scores, 0, 4)


def pair(tasks: Sequence[str], ends: Sequence[int], scores: Scores, group: str) -> list[tuple[int, float]]:
    """The composition's curve over its own training, from step 0."""
    if group == "scratch":
        return sorted((step, score) for (step, _), score in scores["scratch"].items())
    return [(s - ends[-2], scores[group][s, tasks[-1]]) for s in steps_of(scores[group], tasks[-1], ends[-2], ends[-1])]


def fwt(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    ahead, behind = pair(tasks, ends, scores, "sequential"), pair(tasks, ends, scores, "scratch")
    return (area(ahead) - area(behind)) / (ends[-1] - ends[-2])


def fewer(curve: Sequence[tuple[int, float]], every: int) -> list[tuple[int, float]]:
    return [point for place, point in enumerate(curve) if place % every == 0 or place == len(curve) - 1]


def fwt_every(tasks: Sequence[str], ends: Sequence[int], scores: Scores, every: int) -> float:
    ahead, behind = (fewer(pair(tasks, ends, scores, group), every) for group in ("sequential", "scratch"))
    return (area(ahead) - area(behind)) / (ends[-1] - ends[-2])


def fwt_every_second(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return fwt_every(tasks, ends, scores, 2)


def fwt_every_fourth(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return fwt_every(tasks, ends, scores, 4)


def fwt_total(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    ahead, behind = pair(tasks, ends, scores, "sequential"), pair(tasks, ends, scores, "scratch-total")
    return (area(ahead) - area(behind)) / (ends[-1] - ends[-2])


def first_at(curve: Sequence[tuple[int, float]], threshold: float) -> float | None:
    if curve[0][1] >= threshold:
        return curve[0][0]
    for (left, low), (right, high) in zip(curve, curve[1:], strict=False):
        if high >= threshold:
            return left + (right - left) * (threshold - low) / (high - low)
    return None


def time_to_threshold_sequential(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    return first_at(pair(tasks, ends, scores, "sequential"), 50)


def time_to_threshold_scratch(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    return first_at(pair(tasks, ends, scores, "scratch"), 50)


def time_to_threshold(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    ahead, behind = time_to_threshold_sequential(tasks, ends, scores), time_to_threshold_scratch(tasks, ends, scores)
    return None if ahead is None or behind is None else behind - ahead


def jumpstart(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return scores["sequential"][ends[-2], tasks[-1]] - scores["scratch"][0, tasks[-1]]


def asymptote(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return scores["sequential"][ends[-1], tasks[-1]] - scores["scratch"][ends[-1] - ends[-2], tasks[-1]]


def leave_one_out(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> list[float]:
    shares = []
    for j, task in enumerate(tasks[:-1]):
        budget = ends[j] - start(ends, j)
        others = [other for other in tasks if other != task]
        shorter = [ends[k] - (budget if k > j else 0) for k in range(len(tasks)) if k != j]
        if len(shorter) == 1:
            shorter = [0, *shorter]
        without = {"sequential": scores[f"sequential-without-{task}"], "scratch": scores["scratch"]}
        shares.append(fwt(tasks, ends, scores) - fwt(others, shorter, without))
    return shares


def cw_performance(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return acc(tasks, ends, scores) / 100


def cw_forgetting(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    falls = [at(scores, ends, j + 1, task) - at(scores, ends, len(tasks), task) for j, task in enumerate(tasks)]
    return mean(falls) / 100


def cw_forward_transfer(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    gains = []
    for j, task in enumerate(tasks):
        begin, budget, curve = start(ends, j), ends[j] - start(ends, j), scores["sequential"]
        own = area([(s, curve[s, task] / 100) for s in steps_of(curve, task, begin, ends[j])]) / budget
        curve = scores["scratch" if j == len(tasks) - 1 else f"isolated-{task}"]
        alone = area([(s, curve[s, task] / 100) for s in steps_of(curve, task, 0, budget)]) / budget
        if alone < 1:
            gains.append((own - alone) / (1 - alone))
    return mean(gains) if gains else None


def interference(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> list[list[float | None]] | None:
    largest = {}
    for task in tasks:
        largest[task] = max(abs(score) for (_, name), score in scores["sequential"].items() if name == task)
    if 0 in largest.values():
        return None
    rows = []
    for i, trained in enumerate(tasks):
        row: list[float | None] = []
        for task in tasks:
            fall = at(scores, ends, i, task) - at(scores, ends, i + 1, task)
            row.append(None if task == trained else fall / largest[task])
        rows.append(row)
    return rows


def isolated_forgetting(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    rows = interference(tasks, ends, scores)
    return None if rows is None else mean([rows[i][j] or 0.0 for i in range(len(tasks)) for j in range(i)])


def zero_shot_transfer(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    rows, n = interference(tasks, ends, scores), len(tasks)
    return None if rows is None else -mean([rows[i][j] or 0.0 for i in range(n) for j in range(i + 1, n)])


def l2_performance_maintenance(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float:
    return mean(
        [
            mean([score - at(scores, ends, j + 1, tasks[j]) for score in after(tasks, ends, scores, j)])
            for j in range(len(tasks) - 1)
        ]
    )


def contrasts(tasks: Sequence[str], ends: Sequence[int], scores: Scores, forward: bool) -> float | None:
    found = []
    for i in range(len(tasks)):
        for j, task in enumerate(tasks):
            if j == i or (j > i) != forward:
                continue
            before, then = at(scores, ends, i, task), at(scores, ends, i + 1, task)
            if then + before > 0:
                found.append((then - before) / (then + before))
    return mean(found) if found else None


def l2_forward_transfer(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    return contrasts(tasks, ends, scores, True)


def l2_backward_transfer(tasks: Sequence[str], ends: Sequence[int], scores: Scores) -> float | None:
    return contrasts(tasks, ends, scores, False)


def over_orders(
    slow: Slow, orders: Sequence[Sequence[str]], composition: str, budget: Mapping[str, int], scores: Scores
) -> list[float] | None:
    """A metric of each order; None of a single order, or where an order has none."""
    found = []
    for place, order in enumerate(orders):
        tasks, ends = [*order, composition], []
        for task in tasks:
            ends.append((ends[-1] if ends else 0) + budget[task])
        own = {**scores, "sequential": scores[f"sequential-order{place + 1}" if place else "sequential"]}
        value = slow(tasks, ends, own)
        if value is None:
            return None
        found.append(value)
    return found if len(found) > 1 else None


def spread(values: Sequence[float]) -> float:
    """The standard deviation of a sample."""
    total = 0.0
    for value in values:
        total += (value - mean(values)) ** 2
    return sqrt(total / (len(values) - 1))


SLOW: dict[str, Slow] = {
    function.__name__: function
    for function in (
        *(acc, aia, bwt_lopez_paz, fwt_lopez_paz, fwt_isolated, forgetting, relative_forgetting, learning_acc),
        *(intransigence, intransigence_isolated, min_acc, wc_acc, stability_gap, windowed_forgetting, aaa, lca),
        *(curve_forgetting, curve_forgetting_early, fwt, fwt_total, time_to_threshold, time_to_threshold_sequential),
        *(time_to_threshold_scratch, jumpstart, asymptote, isolated_forgetting, zero_shot_transfer),
        *(l2_performance_maintenance, l2_forward_transfer, l2_backward_transfer),
        *(bwt, bwt_gated, bwt_every_second, bwt_every_fourth, fwt_every_second, fwt_every_fourth),
    )
}

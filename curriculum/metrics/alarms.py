"""What is wrong with a study's numbers: each alarm one line, in `warnings` and under the table."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from etude.curriculum.metrics.curves import Curves
from etude.curriculum.study import StudyFolder

HIGHEST = 105.0
"""A score above it: the oracle is no ceiling."""
HIGHEST_FLOOR = 0.3
"""A floor above this share of the oracle's return: failing looks like a third of success."""


def alarms(curves: Curves, tasks: Mapping[str, Any]) -> list[str]:
    """All that there is to warn of.

    Args:
        curves: the study's records.
        tasks: what `describe_tasks` says of its tasks.
    """
    return [*_runs(curves), *_noise(tasks), *_high_scores(curves), *_high_floors(curves), *_checkpoints(curves)] + [
        *_simulators(curves)
    ]


def _runs(curves: Curves) -> Iterator[str]:
    for group, records in curves.regimes.items():
        for seed, reason in records.unfinished.items():
            yield f"{group}-seed{seed} does not count: {reason}"


def _noise(tasks: Mapping[str, Any]) -> Iterator[str]:
    for task, entry in tasks.items():
        interval = entry["C_interval"]
        if entry["D_reason"] is None and interval is not None and interval["low"] <= 0:
            yield (
                f"{task}: the interval of its C_i, {interval['low']:z.1f} to {interval['high']:z.1f}, "
                "reaches the floor, so its D_i divides noise by noise"
            )


def _high_scores(curves: Curves) -> Iterator[str]:
    """Of each task the highest score that any group's seeds have on average."""
    if curves.of != "score":
        return
    highest: dict[str, tuple[float, str]] = {}
    for group, records in curves.regimes.items():
        if not records.finished:
            continue
        view = curves.view(records.finished)
        for task, curve in zip(view.tasks, view.scores(group), strict=True):
            if np.isnan(curve).all():
                continue
            at = int(np.nanargmax(curve))
            found = float(curve[at]), f"{group} at step {view.steps(group)[at]:,}"
            highest[task] = max(highest.get(task, found), found)
    for task, (score, where) in highest.items():
        if score > HIGHEST:
            yield f"{task}: a score of {score:.1f} in {where}, above {HIGHEST:g}: its oracle is no ceiling"


def _high_floors(curves: Curves) -> Iterator[str]:
    for task, reference in curves.references.items():
        oracle, floor = reference.oracle.mean(), max(returns.mean() for returns in reference.floors)
        if oracle > 0 and floor > HIGHEST_FLOOR * oracle:
            yield (
                f"{task}: its floor, a return of {floor:.3g}, is {floor / oracle:.0%} of the oracle's {oracle:.3g}: "
                f"above {HIGHEST_FLOOR:.0%}, scores stretch what little is left"
            )


def _checkpoints(curves: Curves) -> Iterator[str]:
    """Groups that are compared, but were not evaluated at the same steps."""
    if "sequential" not in curves.regimes:
        return
    steps = curves.regimes["sequential"].steps
    ends = [0, *curves.suite.ends]
    wanted = {"joint": steps, "scratch-total": steps}
    for task, begin, end in zip(curves.suite.tasks, ends, ends[1:], strict=False):
        group = "scratch" if task == curves.suite.composition else f"isolated-{task}"
        wanted[group] = steps[(steps >= begin) & (steps <= end)] - begin
    for group, right in wanted.items():
        if group in curves.regimes and not np.array_equal(curves.regimes[group].steps, right):
            yield f"{group}: not evaluated at the steps at which sequential was: unequal checkpoints"


def _simulators(curves: Curves) -> Iterator[str]:
    """References measured with another MuJoCo than the runs."""
    folder = StudyFolder(curves.study)
    try:
        ran_on = json.loads(folder.environment.read_bytes())["packages"]["mujoco"]
        measured_on = {
            task: entry["fingerprint"]["mujoco"] for task, entry in json.loads(folder.references.read_bytes()).items()
        }
    except (OSError, ValueError, KeyError, TypeError):
        return
    for version in sorted({version for version in measured_on.values() if version != ran_on}):
        tasks = ", ".join(task for task in curves.suite.tasks if measured_on.get(task) == version)
        if tasks:
            yield f"{tasks}: the references were measured with MuJoCo {version}, the runs with {ran_on}"

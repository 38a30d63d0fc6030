"""Several studies side by side: methods on the same tasks, seed by seed, and over several suites."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from etude.curriculum.metrics.checked import value_of
from etude.curriculum.metrics.compute import finished_seeds, measure_point
from etude.curriculum.metrics.curves import Curves, Of, load_curves
from etude.curriculum.metrics.registry import Metric, Undefined, Value, get_metric
from etude.curriculum.metrics.statistics import paired_test, rank_methods
from etude.curriculum.study import StudyFolder
from etude.envs.errors import RequestError

HEADLINE = ("bwt", "bwt_gated", "fwt", "fwt_total", "acc")


def compare(
    studies: Sequence[Path], metrics: Sequence[str] = HEADLINE, of: Of = "score", force: bool = False
) -> dict[str, Any]:
    """What several studies say together, in plain data.

    Studies of the same tasks are compared in pairs, on the seeds that both finished. Where studies have different
    tasks, and the same methods on each, the methods are ranked over them.

    Args:
        studies: their folders, at least 2.
        metrics: names of metrics that are single numbers.
        of: what they read, scores or success rates in percent.
        force: compare also what differs in more than the method.

    Returns:
        `studies`: of each, under a name of its own, `path`, `suite`, `method`, `tasks` and `seeds`;
        `differences`: why they should not be compared, where that was forced;
        `metrics`: of each, `direction`; `values` of each study (`value`, `reason`, `per_seed`); `pairs`, each with
        `first` and `second`, and what `paired_test` gives or a `reason`; `ranks`: what `rank_methods` gives, or a
        `reason`.

    Raises:
        RequestError: fewer than 2 studies, or they differ in their tasks' or oracles' code, the simulator, the
            evaluation or the budgets, and `force` is not set; as `load_curves`.
    """
    return compare_curves(load_studies(studies, of), metrics, force)


def load_studies(studies: Sequence[Path], of: Of = "score") -> dict[str, Curves]:
    """The curves of several studies, each under a name of its own.

    Raises:
        RequestError: fewer than 2 studies, or as `load_curves`.
    """
    if len(studies) < 2:
        raise RequestError(f"to compare needs at least 2 studies, not {len(studies)}")
    return dict(zip(_names(studies), (load_curves(Path(study), of) for study in studies), strict=True))


def compare_curves(
    known: Mapping[str, Curves], metrics: Sequence[str] = HEADLINE, force: bool = False
) -> dict[str, Any]:
    """`compare` for those who have read the records already."""
    differences = [
        f"{one} and {other}: {fault}"
        for (one, first), (other, second) in combinations(known.items(), 2)
        for fault in _faults(first, second)
    ]
    if differences and not force:
        raise RequestError(f"{differences[0]}; these studies are not compared unless that is forced (--force)")
    return {
        "studies": {name: _describe(curves) for name, curves in known.items()},
        "differences": differences,
        "metrics": {name: _compare(get_metric(name), known) for name in metrics},
    }


def method_of(curves: Curves) -> str:
    """What is compared: the algorithm with the method around it."""
    return f"{curves.suite.agent.algorithm} {curves.suite.method}"


def _names(studies: Sequence[Path]) -> list[str]:
    paths = [Path(study).resolve() for study in studies]
    names = [path.name for path in paths]
    return [name if names.count(name) == 1 else str(path) for name, path in zip(names, paths, strict=True)]


def _describe(curves: Curves) -> dict[str, Any]:
    return {
        "path": str(curves.study),
        "suite": curves.suite.name,
        "method": method_of(curves),
        "tasks": list(curves.suite.tasks),
        "seeds": list(curves.suite.seeds),
    }


def _faults(first: Curves, second: Curves) -> Iterator[str]:
    """Why two studies should not be compared."""
    one, other = (_fingerprints(curves) for curves in (first, second))
    for task in (task for task in first.suite.tasks if task in second.suite.tasks):
        if task not in one or task not in other:
            without = first if task not in one else second
            yield f"{task}: {without.study.name} has no fingerprint of it, so nobody can tell that it is the same task"
            return
        for key, what in (
            ("mujoco", "the simulator, MuJoCo"),
            ("version", "the task's version"),
            ("sources", "the code of task or oracle"),
            ("episodes", "the number of evaluation episodes"),
        ):
            values = one[task].get(key), other[task].get(key)
            if values[0] != values[1]:
                yield f"{task}: {what} differs, {_short(values[0])} and {_short(values[1])}"
                return
    versions = _simulator(first), _simulator(second)
    if None not in versions and versions[0] != versions[1]:
        yield f"ran on different simulators, MuJoCo {versions[0]} and {versions[1]}"
    if first.suite.tasks == second.suite.tasks:
        for key, values in {
            "budget": (first.suite.budget, second.suite.budget),
            "evaluation.every": (first.suite.evaluation.every, second.suite.evaluation.every),
            "evaluation.also": (first.suite.evaluation.also, second.suite.evaluation.also),
            "evaluation.episodes": (first.suite.evaluation.episodes, second.suite.evaluation.episodes),
            "task_id": (first.suite.task_id, second.suite.task_id),
        }.items():
            if values[0] != values[1]:
                yield f"{key} differs, {values[0]} and {values[1]}"


def _fingerprints(curves: Curves) -> dict[str, Mapping[str, Any]]:
    try:
        stored = json.loads(StudyFolder(curves.study).references.read_bytes())
        return {task: entry["fingerprint"] for task, entry in stored.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _simulator(curves: Curves) -> str | None:
    try:
        return str(json.loads(StudyFolder(curves.study).environment.read_bytes())["packages"]["mujoco"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 16 else f"{text[:8]}…"


def _compare(metric: Metric, known: Mapping[str, Curves]) -> dict[str, Any]:
    values = {name: _values(metric, curves) for name, curves in known.items()}
    pairs = [
        {"first": one, "second": other} | _pair(values[one]["per_seed"], values[other]["per_seed"])
        for one, other in combinations(known, 2)
        if known[one].suite.tasks == known[other].suite.tasks
    ]
    return {"direction": metric.direction, "values": values, "pairs": pairs, "ranks": _ranks(metric, known, values)}


def _values(metric: Metric, curves: Curves) -> dict[str, Any]:
    seeds = finished_seeds(curves, metric.regimes)
    point = measure_point(curves, metric, curves.view(seeds) if seeds else None)
    if isinstance(point, Undefined):
        return {"value": None, "reason": point.reason, "per_seed": {}}
    if np.ndim(point.value):
        raise RequestError(f"{metric.name}: is no single number, and cannot be compared")
    alone = {seed: value_of(metric, curves.view((seed,))) for seed in seeds}
    per_seed = {str(seed): float(found.value) for seed, found in alone.items() if isinstance(found, Value)}
    return {"value": float(point.value), "reason": None, "per_seed": per_seed}


def _pair(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, Any]:
    shared = [seed for seed in first if seed in second]
    if not shared:
        return {"reason": "no seed has a value in both"}
    return {"seeds": shared} | paired_test([first[seed] for seed in shared], [second[seed] for seed in shared])


def _ranks(metric: Metric, known: Mapping[str, Curves], values: Mapping[str, Any]) -> dict[str, Any]:
    """The methods over the groups of studies that share their tasks."""
    table: dict[tuple[str, ...], dict[str, float]] = {}
    titles: dict[tuple[str, ...], str] = {}
    for name, curves in known.items():
        row = table.setdefault(curves.suite.tasks, {})
        titles.setdefault(curves.suite.tasks, curves.suite.name)
        method = method_of(curves)
        if values[name]["value"] is None:
            return {"reason": f"{name}: {values[name]['reason']}"}
        if method in row:
            return {"reason": f"{curves.suite.name}: several studies of {method}"}
        row[method] = values[name]["value"]
    once = [title for title in titles.values() if list(titles.values()).count(title) == 1]
    named = {title if title in once else ", ".join(tasks): table[tasks] for tasks, title in titles.items()}
    try:
        return rank_methods(named, higher_is_better=metric.direction == "higher")
    except RequestError as error:
        return {"reason": str(error)}

"""All metrics of a study, from its records alone, as the plain numbers of metrics.json."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from etude.curriculum.imports import import_all
from etude.curriculum.metrics.added import add_metric, plugin_faults
from etude.curriculum.metrics.alarms import alarms
from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.bootstrap import bootstrap, describe_interval
from etude.curriculum.metrics.checked import resampled, value_of
from etude.curriculum.metrics.cost import cost_of_runs, unrecorded
from etude.curriculum.metrics.curves import Curves, Of, load_curves
from etude.curriculum.metrics.registry import Metric, Tier, Undefined, Value, get_metric, metric_names
from etude.curriculum.metrics.sensitivity import noise_shares
from etude.curriculum.metrics.statistics import over_seeds
from etude.curriculum.metrics.tasks import TASK_MEASURES, describe_tasks
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.plan import groups_of
from etude.curriculum.saves import write_text
from etude.curriculum.suite import Suite
from etude.envs.errors import RequestError


def compute_metrics(
    study: Path,
    of: Of = "score",
    tier: Tier = "core",
    add: Sequence[str] = (),
    tell: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Measure a study and write the result into it: metrics.json, or metrics-success.json of success rates.

    Args:
        study: its folder.
        of: what the metrics read, scores or success rates in percent.
        tier: metrics of this tier and those below it.
        add: more metrics, each as `add_metric` takes it.
        tell: called with what is being measured of stored policies now, in words.

    Returns:
        What the file holds; docs/metrics/README.md says what is under each key.

    Raises:
        RequestError: as `load_curves` and `add_metric`.
    """
    return measure_study(load_curves(study, of), tier, add, tell)


def measure_study(
    curves: Curves, tier: Tier = "core", add: Sequence[str] = (), tell: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """The same for those who have read the records already and need them again.

    The study's imports are imported first, since they may register metrics; where they are gone, a warning says so.
    """
    warnings = [*plugin_faults(), *_import_metrics(curves.suite)]
    added = [add_metric(entry) for entry in add]
    curves.policies.tell = tell
    result = measure(curves, [*dict.fromkeys((*metric_names(tier), *added))])
    result["warnings"] += warnings
    path = curves.study / ("metrics.json" if curves.of == "score" else f"metrics-{curves.of}.json")
    write_text(path, json.dumps(result, indent=2, allow_nan=False) + "\n")
    return result


def _import_metrics(suite: Suite) -> list[str]:
    try:
        import_all(suite.imports)
    except RequestError as error:
        return [f"{error}; metrics that it registers are left out"]
    return []


def measure(curves: Curves, names: Sequence[str] | None = None) -> dict[str, Any]:
    """The metrics of these names (the core ones, unless given), what is known of each task and group, and warnings."""
    metrics = [get_metric(name) for name in (metric_names("core") if names is None else names)]
    counted = {metric.name: finished_seeds(curves, metric.regimes) for metric in metrics}
    of_tasks = finished_seeds(curves, ("sequential",))
    views = {seeds: curves.view(seeds) for seeds in (of_tasks, *counted.values()) if seeds}
    points = {metric.name: measure_point(curves, metric, views.get(counted[metric.name])) for metric in metrics}

    samples: dict[str, FloatArray] = {}
    faults: dict[str, str] = {}
    for seeds, view in views.items():
        measures = {
            metric.name: resampled(metric, faults)
            for metric in metrics
            if counted[metric.name] == seeds and _has_interval(metric, points[metric.name])
        }
        if seeds == of_tasks:
            measures |= {f"tasks/{name}": measure_tasks for name, measure_tasks in TASK_MEASURES.items()}
        samples |= bootstrap(view, measures)

    tasks = {}
    if of_tasks:
        tasks = describe_tasks(views[of_tasks], {name: samples[f"tasks/{name}"] for name in TASK_MEASURES})
        noise = noise_shares(views[of_tasks])
        for task, entry in tasks.items():
            entry["D_noise"] = None if isinstance(noise, Undefined) else noise.get(task)
    described = {
        metric.name: _describe(curves, metric, points[metric.name], counted[metric.name], samples) for metric in metrics
    }
    result: dict[str, Any] = _plain(
        {
            "study": curves.study.resolve().name,
            "of": curves.of,
            "metrics": described,
            "tasks": tasks,
            "costs": cost_of_runs(curves),
            "regimes": {group: _describe_group(curves, group) for group in curves.regimes},
            "warnings": [*alarms(curves, tasks), *unrecorded(described), *faults.values()],
        }
    )
    return result


def finished_seeds(curves: Curves, regimes: Sequence[str]) -> tuple[int, ...]:
    """The seeds whose runs of all these regimes are finished."""
    groups = _groups(curves, regimes)
    if any(group not in curves.regimes for group in groups):
        return ()
    finished = [curves.regimes[group].finished for group in groups]
    return tuple(seed for seed in curves.suite.seeds if all(seed in seeds for seeds in finished))


def _groups(curves: Curves, regimes: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(group for regime in regimes for group in groups_of(curves.suite, regime)))


def measure_point(curves: Curves, metric: Metric, view: StudyView | None) -> Value | Undefined:
    """What a metric makes of a view of all seeds that finished what it reads; None where no seed has."""
    for regime in metric.regimes:
        for group in groups_of(curves.suite, regime):
            if group not in curves.regimes:
                return Undefined(f"needs the {group if group in curves.suite.regimes else regime} regime")
    if len(curves.suite.tasks) < metric.tasks:
        return Undefined(f"needs at least {metric.tasks} tasks")
    if view is None:
        return Undefined(f"no seed has finished {' and '.join(metric.regimes)}")
    return value_of(metric, view)


def _has_interval(metric: Metric, point: Value | Undefined) -> bool:
    return isinstance(point, Value) and metric.resampled and np.ndim(point.value) == 0


def _describe(
    curves: Curves,
    metric: Metric,
    point: Value | Undefined,
    counted: tuple[int, ...],
    samples: Mapping[str, FloatArray],
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "value": None,
        "reason": None,
        "direction": metric.direction,
        "tier": metric.tier,
        "source": metric.source,
        "seeds": {"counted": counted, "planned": curves.suite.seeds},
        "left_out": {},
        "per_seed": {},
        "range": None,
        "over_seeds": None,
        "interval": None,
        "labels": None,
    }
    if isinstance(point, Undefined):
        return described | {"reason": point.reason}
    labels = [[*map(str, axis)] for axis in point.labels] or None
    described |= {"value": point.value, "left_out": point.left_out, "labels": labels}
    alone = {seed: value_of(metric, curves.view((seed,))) for seed in counted}
    values = {seed: result.value if isinstance(result, Value) else None for seed, result in alone.items()}
    described["per_seed"] = {str(seed): value for seed, value in values.items()}
    if np.ndim(point.value) == 0:
        defined = [value for value in values.values() if value is not None]
        described["range"] = {"low": min(defined), "high": max(defined)} if defined else None
        described["over_seeds"] = over_seeds(np.asarray(defined, np.float64).tolist()) if defined else None
    if metric.name in samples:
        described["interval"] = describe_interval(samples[metric.name], curves.view(counted))
    return described


def _describe_group(curves: Curves, group: str) -> dict[str, Any]:
    records = curves.regimes[group]
    described: dict[str, Any] = {
        "seeds": {"counted": records.finished, "planned": records.seeds},
        "unfinished": {str(seed): reason for seed, reason in records.unfinished.items()},
        "final": {},
    }
    if records.finished:
        view = curves.view(records.finished)
        last = zip(view.tasks, view.scores(group)[:, -1], view.successes(group)[:, -1], strict=True)
        described["final"] = {
            task: {"final": score, "final_success": success} for task, score, success in last if not np.isnan(success)
        }
    return described


def _plain(value: Any) -> Any:
    """The same as JSON has it: no arrays, no nan."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value

"""What a study cost: time, memory, sizes and operations, from each run's status.json and cost.json."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from pydantic import ValidationError

from etude.curriculum.cost import Facts, read_cost
from etude.curriculum.metrics.curves import Curves
from etude.curriculum.metrics.once import once
from etude.curriculum.metrics.registry import Direction, Metric, Undefined, Value, register_metric
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.plan import RunName
from etude.curriculum.status import read_status
from etude.curriculum.study import StudyFolder
from etude.envs.errors import RequestError

SOURCE = "docs/metrics/cost.md"
LARGEST = 1e60
"""What no cost of a run comes to; from there on sums and means of them would overflow."""


@dataclass(frozen=True)
class Cost:
    """How a number is read of one run, and put together over several.

    Attributes:
        of_run: from the facts of a run to a number; None where they do not say.
        total: of the runs' numbers.
        direction: which is better.
    """

    of_run: Callable[[dict[str, Any]], float | None]
    total: Callable[[Sequence[float]], float]
    direction: Direction = "lower"


NOT_RECORDED = "not recorded"


@once
def facts(curves: Curves, group: str, seed: int) -> dict[str, Any]:
    """What is known of a run's cost: cost.json, with `seconds`, `step` and what was trained and evaluated beside it.

    Raises:
        RequestError: cost.json is there, and is not what a run writes; or a cost comes to what no run's can.
    """
    run = StudyFolder(curves.study).run(RunName(group, seed))
    status = read_status(run.status)
    records = curves.regimes[group]
    row = records.seeds.index(seed)
    segments = curves.plan(group).segments
    known: dict[str, Any] = {
        **_stored_costs(run.cost),
        "seconds": status.seconds,
        "step": status.step,
        "budgets": {segment.task: segment.budget for segment in segments},
        "acted": float(np.nansum(records.lengths[row])),
    }
    for name, cost in COSTS.items():
        value = cost.of_run(known)
        if value is not None and not 0 <= value <= LARGEST:
            raise RequestError(f"{run.path}: {name}, {value:.6g}, is not what a run's {run.cost.name} or record gives")
    return known


def _stored_costs(path: Path) -> Facts:
    try:
        return read_cost(path)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise RequestError(f"{path}: not what a run writes ({where + ': ' if where else ''}{fault['msg']})") from None


def cost_of_runs(curves: Curves) -> dict[str, dict[str, float | None]]:
    """Every cost of every run that is finished, by the run's name."""
    found = {}
    for group, records in curves.regimes.items():
        for seed in records.finished:
            known = facts(curves, group, seed)
            found[str(RunName(group, seed))] = {name: cost.of_run(known) for name, cost in COSTS.items()}
    return found


def unrecorded(described: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line for each finished run that counts in some costs and not in others, since it has not recorded those.

    Args:
        described: metrics by name, each with what it has `left_out` and why.
    """
    lacking: dict[str, list[str]] = {}
    for name, metric in described.items():
        for run, reason in metric["left_out"].items():
            if reason == NOT_RECORDED:
                lacking.setdefault(run, []).append(name)
    return [f"{run} has not recorded {', '.join(names)}, and is left out there" for run, names in lacking.items()]


def _stored(name: str) -> Callable[[dict[str, Any]], float | None]:
    return lambda known: known.get(name)


def _seconds(known: dict[str, Any]) -> float | None:
    return sum(known["seconds"].values()) or None


def _speed(known: dict[str, Any]) -> float | None:
    seconds = known["seconds"].get("learning")
    return known["step"] / seconds if seconds and known["step"] else None


def _flops(known: dict[str, Any]) -> float | None:
    """Learning and method over all tasks, and the evaluations' actions.

    The first and the last task's learning was counted; a step of those between costs what one of the last does.
    """
    counted, an_action = known.get("flops"), known.get("flops_an_action")
    if not counted or not an_action:
        return None
    later = list(counted.values())[-1].get("learning")
    total = an_action * known["acted"]
    for task, budget in known["budgets"].items():
        found = counted.get(task, {})
        learning = found.get("learning") or later
        if not learning:
            return None
        learnt = max(0, budget - learning.get("warm_up", 0))
        total += learning.get("operations", 0) / learning.get("steps", 1) * learnt + found.get("method", {}).get(
            "operations", 0
        )
    return float(total)


COSTS: dict[str, Cost] = {
    "wall_time": Cost(_seconds, sum),
    "env_steps_per_s": Cost(_speed, fmean, "higher"),
    "peak_mem": Cost(_stored("peak_mem"), max),
    "trainable_params": Cost(_stored("trainable_params"), max, "none"),
    "model_bytes": Cost(_stored("model_bytes"), max),
    "buffer_bytes": Cost(_stored("buffer_bytes"), max),
    "state_bytes": Cost(_stored("state_bytes"), max),
    "total_flops": Cost(_flops, sum),
}


def _metric(name: str, cost: Cost) -> Callable[[StudyView], Value | Undefined]:
    def of_study(view: StudyView) -> Value | Undefined:
        curves = view.curves
        values: list[float] = []
        left_out: dict[str, str] = {}
        for group, records in curves.regimes.items():
            for seed in view.seeds:
                run = str(RunName(group, seed))
                value = cost.of_run(facts(curves, group, seed)) if seed in records.finished else None
                if value is None:
                    left_out[run] = NOT_RECORDED if seed in records.finished else "not finished"
                else:
                    values.append(value)
        if not values:
            return Undefined("no finished run has recorded it")
        return Value(float(cost.total(values)), left_out)

    of_study.__name__ = name
    return of_study


for _name, _cost in COSTS.items():
    register_metric(Metric(_name, _metric(_name, _cost), "core", _cost.direction, SOURCE, (), resampled=False))

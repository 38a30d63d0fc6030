"""What a study's metrics mean, in plain sentences."""

from collections.abc import Mapping
from typing import Any

from etude.curriculum.metrics.bootstrap import ENOUGH_SEEDS
from etude.curriculum.metrics.headline import GATE
from etude.curriculum.metrics.registry import get_metric
from etude.envs.errors import RequestError

ALSO = ("fwt_total", "acc")
NO_VALUE = "–"
"""Stands for the value of a seed that has none."""


def counted(seeds: Mapping[str, Any]) -> str:
    """`"2 of 3 seeds"`."""
    planned = len(seeds["planned"])
    return f"{len(seeds['counted'])} of {planned} {'seed' if planned == 1 else 'seeds'}"


def nothing_measured(metrics: Mapping[str, Any]) -> str:
    """What stands in place of the tasks' table where no sequential run is finished."""
    sequential = metrics["regimes"].get("sequential")
    if sequential is None:
        return f"{metrics['study']}: this suite has no sequential regime, so there is no table of tasks."
    return f"{metrics['study']}: no sequential run is finished ({counted(sequential['seeds'])})."


def explain(metrics: Mapping[str, Any]) -> list[str]:
    """Sentences on what BWT, FWT and the rest say here, why one is undefined, and which tasks BWT leaves out."""
    bwt, fwt = metrics["metrics"]["bwt"], metrics["metrics"]["fwt"]
    return [
        *_nothing_learnt(metrics),
        _forgotten(metrics, bwt) if bwt["value"] is not None else f"BWT is undefined: {bwt['reason']}.",
        _practice(metrics, fwt) if fwt["value"] is not None else f"FWT is undefined: {fwt['reason']}.",
        *(f"{task} has no D_i and does not enter BWT: {reason}." for task, reason in bwt["left_out"].items()),
        *_further(metrics["metrics"]),
        *_cautions(bwt, metrics["metrics"]["bwt_gated"], fwt),
    ]


def _nothing_learnt(metrics: Mapping[str, Any]) -> list[str]:
    tasks = metrics["tasks"].values()
    if not tasks or any(task["C"] >= GATE for task in tasks):
        return []
    return [f"No task was learnt, none to a C_i of {GATE:g}: these numbers mean nothing yet."]


def _forgotten(metrics: Mapping[str, Any], bwt: Mapping[str, Any]) -> str:
    reached = "score" if metrics["of"] == "score" else "success rate"
    if bwt["value"] == 0:
        return f"BWT (lower is better): no task's {reached} ever fell below what it was at the task's own end."
    share = "less than 1%" if bwt["value"] < 0.5 else f"{bwt['value']:.0f}%"
    return (
        f"BWT (0 to 100, lower is better): after a task's own end, on average over the rest of the training, "
        f"{share} of the {reached} reached on it was lost."
    )


def _practice(metrics: Mapping[str, Any], fwt: Mapping[str, Any]) -> str:
    composition = list(metrics["tasks"])[-1]
    unit = "points of score" if metrics["of"] == "score" else "percentage points of success"
    size = f"{abs(fwt['value']):.1f}"
    if fwt["value"] == 0:
        effect = "made no difference"
    elif size == "0.0":
        effect = f"{'was worth' if fwt['value'] > 0 else 'cost'} less than 0.1 {unit}"
    else:
        effect = f"was worth +{size} {unit}" if fwt["value"] > 0 else f"cost {size} {unit}"
    disagree = "; the seeds disagree on the sign" if fwt["range"]["low"] < 0 < fwt["range"]["high"] else ""
    return f"FWT (higher is better): practising first {effect} on {composition}, averaged over its training{disagree}."


def _further(metrics: Mapping[str, Any]) -> list[str]:
    """The metrics that the table has no row for, of ours only the first; `etude metrics` prints all of them."""
    headline = ("bwt", "bwt_gated", "fwt")
    rest = {name: m for name, m in metrics.items() if name in ALSO or (name not in headline and not _is_ours(name))}
    numbers = [f"{name} {m['value']:z.1f}" for name, m in rest.items() if isinstance(m["value"], int | float)]
    lines = [f"Also: {', '.join(numbers)}; etude metrics prints all, metrics.json has their seeds."] if numbers else []
    told = {metrics[name]["reason"] for name in headline}
    undefined = {name: m["reason"] for name, m in rest.items() if m["reason"] not in told and name not in ALSO}
    return lines + [f"{name} is undefined: {reason}." for name, reason in undefined.items() if reason]


def _is_ours(name: str) -> bool:
    try:
        return get_metric(name).function.__module__.startswith("etude.")
    except RequestError:
        return False


def _cautions(bwt: Mapping[str, Any], gated: Mapping[str, Any], fwt: Mapping[str, Any]) -> list[str]:
    cautions = []
    if gated["value"] != bwt["value"]:
        cautions.append("BWT gated counts only tasks with C_i of 10 or more, where noise is not divided by noise.")
        if gated["value"] is None:
            cautions.append(f"BWT gated is undefined: {gated['reason']}.")
    seeds = min((len(m["seeds"]["counted"]) for m in (bwt, fwt) if m["value"] is not None), default=ENOUGH_SEEDS)
    if seeds == 1:
        cautions.append(
            "* bootstrap over the evaluation episodes alone, 2.5th to 97.5th percentile: one seed gives no spread."
        )
    elif seeds < ENOUGH_SEEDS:
        cautions.append(
            f"* bootstrap, 2.5th to 97.5th percentile; {seeds} seeds are too few for it to hold 95% of the time "
            f"({ENOUGH_SEEDS} would do): trust the range over seeds first."
        )
    shown = (bwt, fwt) if gated["value"] == bwt["value"] else (bwt, gated, fwt)
    if any(metric["value"] is not None and None in metric["per_seed"].values() for metric in shown):
        cautions.append(f"{NO_VALUE} a seed that has no value alone; its curves count in the average all the same.")
    if bwt["value"] is not None:
        cautions.append(
            "Not the BWT of Lopez-Paz and Ranzato (2017), which compares two points and is higher-is-better."
        )
    return cautions

"""What a paper's appendix says of a study: how it was run, on what, and against what its scores are measured."""

import json
from collections.abc import Mapping
from typing import Any

from etude.curriculum.metrics.bootstrap import ENOUGH_SEEDS, RESAMPLES
from etude.curriculum.metrics.curves import Curves
from etude.curriculum.report.page import Section
from etude.curriculum.report.tables import Cell, Column, Table
from etude.curriculum.study import StudyFolder


def methods_section(curves: Curves) -> Section:
    """Methods in words, the tasks' references, the environment, and the suite as it was resolved."""
    folder = StudyFolder(curves.study)
    environment = _read(folder.environment)
    imported = _read(folder.path / "import.json")
    return Section(
        "methods",
        "Methods and environment",
        texts=_imported(imported) if imported else methods(curves, environment),
        tables=[
            *_references(curves, _read(folder.references)),
            *([_environment(environment)] if environment else []),
        ],
        listings=[("suite.yaml", curves.suite.to_yaml())],
    )


def methods(curves: Curves, environment: Mapping[str, Any]) -> list[str]:
    """Paragraphs for the paper."""
    suite = curves.suite
    packages = environment.get("packages", {})
    on = ", ".join(f"{name} {packages[name]}" for name in ("mujoco", "gymnasium", "torch") if name in packages)
    budgets = ", ".join(f"{task} {steps:,}" for task, steps in suite.budget.items())
    told = "is told by a one-hot vector" if suite.task_id == "onehot" else "is not told"
    also = ", ".join(f"{step:,}" for step in suite.evaluation.also)
    scored = "Success is that of an episode's last step, in percent."
    if curves.of == "score":
        scored = (
            "A task's score is 100 (G − floor) / (oracle − floor), G being the undiscounted return: the oracle is a "
            "scripted policy, the floor the better of uniformly random and zero actions, both measured on the "
            "evaluation episodes."
        )
    return [
        f"The suite {suite.name} trains on {', '.join(suite.tasks)}, in this order; budgets in environment steps: "
        f"{budgets}. Regimes: {', '.join(suite.regimes)}. Seeds: {', '.join(map(str, suite.seeds))}.",
        f"The agent is {suite.agent.algorithm} in {suite.agent.environments} simulations, with the method "
        f"{suite.method}; its hyperparameters stand in suite.yaml below. Which task is on {told} in the observation."
        + (f" Versions: {on}." if on else ""),
        f"The agent is evaluated every {suite.evaluation.every:,} steps, "
        + (f"{also} steps after each task's start, " if also else "")
        + f"and at the end of each task, deterministically, on {suite.evaluation.episodes} episodes a task, which are "
        f"the same for all seeds and checkpoints. {scored} Scores are averaged over episodes, then seeds.",
        "BWT is the mean over the learnt primitives of D_i, the share of the score C_i at the task's own end that is "
        "lost afterwards: 100 ∫ max(0, C_i − R_i(s)) ds / ((b_N − b_i) C_i) from b_i to the end b_N of the training, "
        "with R_i clipped below at the floor, by the trapezoidal rule over the checkpoints. FWT is the mean "
        "difference between the composition's curve after practice and from scratch over the same number of steps.",
        f"Intervals are from a bootstrap over seeds and evaluation episodes, crossed, with {RESAMPLES:,} resamples, "
        f"from the 2.5th to the 97.5th percentile; with fewer than {ENOUGH_SEEDS} seeds they are too narrow to hold "
        "95% of the time.",
    ]


def _imported(said: Mapping[str, Any]) -> list[str]:
    """What is known of a study that was made of someone else's logs."""
    anchors = said.get("anchors", {})
    ends = ", ".join(f"{task} {low:g} to {high:g}" for task, (low, high) in anchors.items())
    return [
        f"Imported from {said.get('from')}, format {said.get('format')}.",
        f"Scores are the log's own numbers, from 0 to 100 between these two: {ends}.",
        *said.get("notes", []),
    ]


def _references(curves: Curves, references: Mapping[str, Any]) -> list[Table]:
    if not references:
        return []
    rows: list[list[Cell]] = []
    for task in (task for task in curves.suite.tasks if task in references):
        entry = references[task]
        mark = entry.get("fingerprint", {})
        means = [_mean(entry[policy]) if policy in entry else None for policy in ("oracle", "random", "zero", "floor")]
        rows.append([task, mark.get("version"), *means, mark.get("mujoco"), str(mark.get("sources", ""))[:12]])
    columns = [
        Column("task"),
        Column("version", "d"),
        *(Column(heading, ".2f") for heading in ("oracle", "random", "zero", "own floor")),
        Column("MuJoCo"),
        Column("sources"),
    ]
    note = (
        "Mean returns on the evaluation episodes; sources is the beginning of a hash of the code that defines the task."
    )
    return [Table("references-table", "What scores are measured against", columns, rows, note)]


def _mean(policy: Mapping[str, Any]) -> float:
    return float(sum(policy["returns"]) / len(policy["returns"]))


def _environment(environment: Mapping[str, Any]) -> Table:
    flat = {key: value for key, value in environment.items() if key != "packages"} | environment["packages"]
    rows: list[list[Cell]] = [
        [str(key), value if isinstance(value, str) else json.dumps(value)] for key, value in flat.items()
    ]
    return Table("environment-table", "What the study was run on", [Column("what"), Column("which")], rows)


def _read(path: Any) -> dict[str, Any]:
    """What environment.json holds; no packages where it names none, nothing where it cannot be read."""
    try:
        stored = dict(json.loads(path.read_bytes()))
        return stored | {"packages": dict(stored.get("packages", {}))}
    except (OSError, ValueError, TypeError):
        return {}

"""Writes docs/tasks.md: `measure` plays references, `pictures` draws them, `curves` what was learnt, `write` the page.

What was learnt is read from the records of the studies under docs/studies, of which `etude metrics` makes everything
else again.
"""

import inspect
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from etude.curriculum.pictures import Sheet
from etude.curriculum.records import read_evaluations
from etude.curriculum.suite import read_suite
from etude.curriculum.watch import Watch, write_episodes
from etude.envs import Task, get_task, task_ids
from etude.envs.registry import task_class
from etude.oracles import measure_oracle, score

DOCS = Path(__file__).parent.parent / "docs"
STUDIES = DOCS / "studies"
CANONICAL = STUDIES / "canonical.json"
PICTURES = Path("images") / "tasks"
CURVES = Path("images") / "learnt.png"
ACROSS = 4
SHEET = Sheet(width=160)
STARTS = 1000
HEAD = f"""# Tasks

Written by `python benchmarks/tasks.py write` from what was measured: returns over {STARTS:,} starts
(`python benchmarks/tasks.py measure`, into `docs/studies/canonical.json`), and the records of trainings under
`docs/studies`. In brackets stand 95% intervals; variation is the standard deviation over the mean. The pictures
(`python benchmarks/tasks.py pictures`) show the oracle in the first evaluation episode, from its start to where success
begins to last, and its last step.

![score and success of every task on record over its own training, a thin line a seed](images/learnt.png)

How each was learnt (`python benchmarks/tasks.py curves`): the three seeds and their mean.

"""


def measure() -> None:
    measured: dict[str, Any] = json.loads(CANONICAL.read_text()) if CANONICAL.exists() else {}
    for task in task_ids():
        if task not in measured:
            measured[task] = measure_oracle(task, STARTS)
            CANONICAL.write_text(json.dumps(measured, indent=1) + "\n")
            print(task, flush=True)


def pictures(*tasks: str) -> None:
    (DOCS / PICTURES).mkdir(parents=True, exist_ok=True)
    for task in tasks or task_ids():
        watch = Watch(task, "oracle")
        write_episodes(watch, DOCS / PICTURES / f"{task}.jpg", SHEET)
        watch.close()
        print(task, flush=True)


def write() -> None:
    measured = json.loads(CANONICAL.read_text())
    sections = [section(task, measured[task]) for task in task_ids() if task in measured]
    tried = (STUDIES / "tried.md").read_text(encoding="utf-8")
    (DOCS / "tasks.md").write_text("\n".join([HEAD + sections[0], *sections[1:], tried]), encoding="utf-8")


def section(task: str, measured: dict[str, Any]) -> str:
    spec, task_type = get_task(task), task_class(task)
    progress = inspect.getdoc(getattr(task_type, "progress", task_type.reward)) or ""
    shaped = f"Staged, by its parts in order: {', '.join(spec.parts)}." if spec.parts else progress
    return (
        f"## {task}\n\n{spec.description}\n\n"
        f"![{task} played by its oracle]({(PICTURES / task).as_posix()}.jpg)\n\n"
        f"- **Solved:** {with_lengths(task_type)}\n"
        f"- **Shaped by:** {shaped}\n"
        f"- **Starts:** {spec.starts}.\n"
        f"- **Horizon:** {spec.horizon} control steps.\n"
        f"- **Learnt:** {learnt(task)}\n\n"
        f"| policy | return | success | variation |\n|---|---|---|---|\n"
        + "".join(row(name, measured[name]) for name in ("oracle", "random", "zero"))
    )


def with_lengths(task_type: type[Task]) -> str:
    """When a task is solved, in words, the constants' names replaced by centimetres."""
    constants = vars(sys.modules[task_type.success.__module__])
    return re.sub(
        "[A-Z][A-Z_]{3,}", lambda name: f"{100 * constants[name[0]]:g} cm", inspect.getdoc(task_type.success) or ""
    )


def row(name: str, summary: dict[str, Any]) -> str:
    low, high = summary["return_interval"]
    least, most = summary["success_interval"]
    return (
        f"| {name} | {summary['return']:.2f} ({low:.2f} to {high:.2f}) | {summary['success']:.1%} "
        f"({least:.1%} to {most:.1%}) | {summary['variation']:.1%} |\n"
    )


@dataclass(frozen=True)
class Training:
    """What three seeds of PPO came to on a task, while it was trained.

    Attributes:
        study: the folder of the records.
        regime: the runs of it.
        steps: (K,) from where each run began.
        begun: the step at which the task's own training began.
        scores: (S, K) of each seed.
        successes: (S, K) shares of the episodes.
    """

    study: Path
    regime: str
    steps: list[int]
    begun: int
    scores: NDArray[np.float64]
    successes: NDArray[np.float64]


def training(task: str) -> Training | None:
    """The task's training on record, in its own study if it has one."""
    composed = bool(get_task(task).parts)
    for study in sorted(STUDIES.iterdir(), key=lambda study: (study.name != task, study.name)):
        regime = "scratch" if study.name == task and not composed else "sequential"
        references = study / "references.json"
        if not references.exists() or task not in json.loads(references.read_text()):
            continue
        played = json.loads(references.read_text())[task]
        suite = read_suite(study)
        place = suite.tasks.index(task)
        begun, end = (0, suite.budget[task]) if regime == "scratch" else ((0, *suite.ends)[place], suite.ends[place])
        seeds = []
        for run in sorted(study.glob(f"runs/{regime}-seed*")):
            lines = read_evaluations(run / "evaluations.jsonl")
            seeds.append([line for line in lines if line.task == task and begun <= line.step <= end])
        scores = [[np.mean(score(line.returns, played)) for line in seed] for seed in seeds]
        successes = [[np.mean(line.successes) for line in seed] for seed in seeds]
        steps = [line.step for line in seeds[0]]
        return Training(study, regime, steps, begun, np.array(scores), np.array(successes))
    return None


def learnt(task: str) -> str:
    """What three seeds of PPO came to by the task's own end, and the study that has it."""
    found = training(task)
    if found is None:
        return "no training of it is on record."
    last = found.scores[:, -1]
    each = ", ".join(f"{score:.0f}" for score in last)
    success = np.mean(found.successes[:, -1])
    return (
        f"score {np.mean(last):.1f} ({each}) and success {success:.0%} on seeds 0, 1, 2, at step "
        f"{found.steps[-1]:,} of the {found.regime} runs of `docs/studies/{found.study.name}`."
    )


def curves() -> None:
    """Draw how every task on record was learnt."""
    found = {task: at for task in task_ids() if (at := training(task)) is not None}
    rows = -(-len(found) // ACROSS)
    figure, axes = plt.subplots(rows, ACROSS, figsize=(2.6 * ACROSS, 1.9 * rows), sharey=True, layout="constrained")
    for panel in axes.flat[len(found) :]:
        panel.set_axis_off()
    for panel, (task, at) in zip(axes.flat, found.items(), strict=False):
        steps = (np.array(at.steps) - at.begun) / 1000
        panel.plot(steps, at.scores.T, color="C0", linewidth=0.8, alpha=0.5)
        panel.plot(steps, at.scores.mean(axis=0), color="C0", linewidth=2, label="score")
        panel.plot(steps, 100 * at.successes.mean(axis=0), color="C1", linewidth=1.5, label="success, %")
        panel.set_title(f"{task} ({at.regime})", fontsize=8)
        panel.tick_params(labelsize=7)
        panel.set_ylim(-8, 112)
    axes.flat[0].legend(fontsize=7, frameon=False)
    figure.supxlabel("thousand steps of its own training", fontsize=8)
    figure.savefig(DOCS / CURVES, dpi=110)


if __name__ == "__main__":
    {"measure": measure, "pictures": pictures, "curves": curves, "write": write}[sys.argv[1]](*sys.argv[2:])

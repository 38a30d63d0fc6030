"""Writes docs/tasks.md: `measure` plays the references of all tasks, `pictures` draws them, `write` makes the page.

What was learnt is read from the records of the studies under docs/studies, of which `etude metrics` makes everything
else again.
"""

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from etude.curriculum.pictures import Sheet
from etude.curriculum.records import read_evaluations
from etude.curriculum.suite import read_suite
from etude.curriculum.watch import Watch, write_episodes
from etude.envs import Task, get_task, task_ids
from etude.envs.registry import task_class
from etude.oracles import measure_oracle

DOCS = Path(__file__).parent.parent / "docs"
STUDIES = DOCS / "studies"
CANONICAL = STUDIES / "canonical.json"
PICTURES = Path("images") / "tasks"
SHEET = Sheet(width=160)
STARTS = 1000
HEAD = f"""# Tasks

Written by `python benchmarks/tasks.py write` from what was measured: returns over {STARTS:,} starts
(`python benchmarks/tasks.py measure`, into `docs/studies/canonical.json`), and the records of trainings under
`docs/studies`. In brackets stand 95% intervals; variation is the standard deviation over the mean. The pictures
(`python benchmarks/tasks.py pictures`) show the oracle in the first evaluation episode, from its start to where success
begins to last, and its last step.

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
        f"- **Learnt:** {learnt(task, measured)}\n\n"
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


def learnt(task: str, measured: dict[str, Any]) -> str:
    """What three seeds of PPO came to by the task's own end, and the study that has it: its own, if it has one."""
    for study in sorted(STUDIES.iterdir(), key=lambda study: (study.name != task, study.name)):
        regime = "scratch" if study.name == task and not get_task(task).parts else "sequential"
        references = study / "references.json"
        if not references.exists() or task not in json.loads(references.read_text()):
            continue
        played = json.loads(references.read_text())[task]
        floor = max(np.mean(played[name]["returns"]) for name in ("random", "zero"))
        ceiling = np.mean(played["oracle"]["returns"])
        ends = []
        for run in sorted(study.glob(f"runs/{regime}-seed*")):
            own = [line for line in read_evaluations(run / "evaluations.jsonl") if line.task == task]
            best = own[-1] if regime == "scratch" or get_task(task).parts else at_own_end(study, task, own)
            score = 100 * (np.mean(best.returns) - floor) / (ceiling - floor)
            ends.append((best.step, score, np.mean(best.successes)))
        scores, successes = [end[1] for end in ends], [end[2] for end in ends]
        each = ", ".join(f"{score:.0f}" for score in scores)
        return (
            f"score {np.mean(scores):.1f} ({each}) and success {np.mean(successes):.0%} on seeds 0, 1, 2, at step "
            f"{ends[0][0]:,} of the {regime} runs of `docs/studies/{study.name}`."
        )
    return "no training of it is on record."


def at_own_end(study: Path, task: str, own: list[Any]) -> Any:
    suite = read_suite(study)
    end = suite.ends[suite.tasks.index(task)]
    return next(line for line in own if line.step == end)


if __name__ == "__main__":
    {"measure": measure, "pictures": pictures, "write": write}[sys.argv[1]](*sys.argv[2:])

"""How long `etude metrics` and `etude report` take, core metrics with 10,000 resamples, as the episodes recorded grow.

python benchmarks/metrics.py [checkpoints ...]

It writes a study of 10 tasks, 10 seeds, 2 regimes and 50 episodes an evaluation for each number of checkpoints, in a
folder of its own, and measures each command in a process of its own. A report measures the study again; its seconds
include that.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import orjson

from etude.curriculum.plan import groups, plan_run
from etude.curriculum.status import Status, write_status
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite

TASKS = [f"task-{place}" for place in range(1, 11)]
CHECKPOINTS = (500, 1000, 1800)
SEEDS, EPISODES, EVERY = 10, 50, 1000
MEASURE = """
import resource, sys, time
from pathlib import Path
start = time.perf_counter()
if sys.argv[2] == "metrics":
    from etude.curriculum.metrics.compute import compute_metrics
    compute_metrics(Path(sys.argv[1]))
else:
    from etude.curriculum.report.write import write_report
    write_report(Path(sys.argv[1]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"seconds={time.perf_counter() - start} processor={time.process_time()} kilobytes={peak}")
"""


def write_study(folder: Path, checkpoints: int) -> int:
    """A study whose tasks are learnt and half forgotten; the episodes it records."""
    suite = Suite.model_validate(
        {
            "name": "synthetic",
            "tasks": TASKS,
            "budget": checkpoints // len(TASKS) * EVERY,
            "seeds": list(range(SEEDS)),
            "regimes": ["sequential", "scratch"],
            "evaluation": {"every": EVERY, "episodes": EPISODES},
            "agent": {"algorithm": "PPO"},
        }
    )
    folder.mkdir()
    (folder / "suite.yaml").write_text(suite.to_yaml())
    generator = np.random.default_rng(0)
    policies = {"oracle": 60.0, "random": 3.0, "zero": 2.0}
    references = {
        task: {"fingerprint": {"task": task}}
        | {name: {"returns": (mean + generator.normal(size=EPISODES)).tolist()} for name, mean in policies.items()}
        for task in TASKS
    }
    (folder / "references.json").write_text(json.dumps(references))
    rows = 0
    for group in groups(suite):
        plan = plan_run(suite, group).checkpoints
        for seed in suite.seeds:
            run = StudyFolder(folder).run(f"{group}-seed{seed}")
            run.path.mkdir(parents=True)
            write_status(
                run.status, Status(state="done", step=plan[-1].step, of=plan[-1].step, seconds={"learning": 1.0})
            )
            with run.evaluations.open("wb") as file:
                for checkpoint in plan:
                    for task in checkpoint.tasks:
                        age = (checkpoint.step - TASKS.index(task) * suite.budget[task]) / suite.budget[task]
                        mean = 55 * min(max(age, 0.0), 1.0) * (1.0 if age <= 1 else 0.5 + 0.5 * float(np.exp(1 - age)))
                        returns = mean + generator.normal(size=EPISODES)
                        line = {"step": checkpoint.step, "task": task, "returns": returns.tolist()}
                        line |= {"successes": (returns > 30).tolist(), "lengths": [60] * EPISODES}
                        file.write(orjson.dumps(line) + b"\n")
                        rows += EPISODES
    return rows


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or CHECKPOINTS
    headings = ("command", "checkpoints", "episodes", "seconds", "processor s", "µs/episode", "peak memory", "page")
    print("".join(f"{heading:>13}" for heading in headings))
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            study = Path(folder) / "study"
            rows = write_study(study, size)
            for command in ("metrics", "report"):
                done = subprocess.run(
                    [sys.executable, "-c", MEASURE, str(study), command], capture_output=True, text=True, check=True
                )
                seconds, processor, kilobytes = map(float, re.findall(r"=([0-9.]+)", done.stdout))
                page = study / "report.html"
                figures = (command, f"{size:,}", f"{rows:,}", f"{seconds:.1f}", f"{processor:.1f}")
                figures += (f"{1e6 * processor / rows:.2f}", f"{kilobytes / 1e6:.2f} GB")
                figures += (f"{page.stat().st_size / 1e6:.1f} MB" if page.exists() else "",)
                print("".join(f"{figure:>13}" for figure in figures), flush=True)


if __name__ == "__main__":
    main()

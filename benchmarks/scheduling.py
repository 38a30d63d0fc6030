"""What a study costs beyond its runs: 100 runs of one rollout each, by one worker, against the same in this process.

python benchmarks/scheduling.py [runs]
"""

import os
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from etude.curriculum.claim import claim_folder
from etude.curriculum.launch.local import _Study
from etude.curriculum.plan import run_names
from etude.curriculum.runner import execute
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite, load_suite

CHANGES = ["tasks=[reach]", "regimes=[scratch]", "budget=256", "evaluation.episodes=1", "wandb.mode=disabled"]


def seconds_here(suite: Suite, place: Path) -> float:
    """The runs one after another in this process, once it has imported everything."""
    claim_folder(suite, place)
    folders = [StudyFolder(place).run(name).path for name in run_names(suite)]
    execute(folders[0])
    began = time.perf_counter()
    for folder in folders[1:]:
        execute(folder)
    return (time.perf_counter() - began) * len(folders) / (len(folders) - 1)


def seconds_scheduled(suite: Suite, place: Path) -> tuple[float, float]:
    """From the first run's begin to the last one's end by a worker, and this process's own time."""
    claim_folder(suite, place)
    study = _Study(suite, StudyFolder(place), 1, Console(file=open(os.devnull, "w"), width=80), None)
    study.prepare()
    times: list[tuple[float, float]] = []
    announce = study._announce

    def begin(names: list) -> None:  # type: ignore[type-arg]
        announce(names)
        times.append((time.perf_counter(), time.process_time()))

    study._announce = begin  # type: ignore[method-assign]
    study.run()
    (began, used), (ended, used_up) = times[0], (time.perf_counter(), time.process_time())
    return ended - began, used_up - used


def main() -> None:
    runs = int(sys.argv[1]) if sys.argv[1:] else 100
    suite = load_suite("smoke", [*CHANGES, f"seeds={list(range(runs))}"])
    with tempfile.TemporaryDirectory() as folder:
        here = seconds_here(suite, Path(folder, "here"))
        scheduled, own = seconds_scheduled(suite, Path(folder, "scheduled"))
    print(f"{runs} runs in this process {here:6.1f} s, {1000 * here / runs:5.0f} ms a run")
    print(f"{runs} runs scheduled       {scheduled:6.1f} s, {1000 * scheduled / runs:5.0f} ms a run")
    added, own = 1000 * (scheduled - here) / runs, 1000 * own / runs
    print(f"added {added:.0f} ms a run, {own:.0f} ms of it the scheduler's own processor time")


if __name__ == "__main__":
    main()

"""A study's status from another terminal, followed until nobody is at work in it any more."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

from rich.console import Console

from etude.curriculum.holding import holder
from etude.curriculum.launch.display import make_display
from etude.curriculum.launch.estimate import makespan
from etude.curriculum.status import Status, study_status, study_statuses

EVERY = 1.0


def follow(study: Path, console: Console) -> None:
    """Show the status, anew every second, until nobody is at work in the study: as a picture, or as lines.

    Raises:
        RequestError: the folder is no study.
    """
    with make_display(console) as display:
        while _at_work(study):
            statuses = study_statuses(study)
            display.show(statuses, seconds_left(statuses))
            time.sleep(EVERY)


def follow_as_json(study: Path) -> None:
    """Print what `etude status --json` does, in a line of its own whenever it has changed.

    Raises:
        RequestError: the folder is no study.
    """
    last, at_work = "", True
    while at_work:
        at_work = _at_work(study)
        line = json.dumps(study_status(study), ensure_ascii=False, allow_nan=False)
        if line != last:
            print(line, flush=True)
        last = line
        if at_work:
            time.sleep(EVERY)


def seconds_left(statuses: Mapping[str, Status]) -> float | None:
    """Until all runs are done, those that wait at the mean speed of those at work; None where none is at speed."""
    running = [status for status in statuses.values() if status.state == "running"]
    speeds = [status.speed for status in running if status.speed]
    if not speeds:
        return None
    waiting = [status for status in statuses.values() if status.state == "pending"]
    return makespan([(s.of - s.step) / (s.speed or mean(speeds)) for s in (*running, *waiting)], len(running))


def _at_work(study: Path) -> bool:
    """Whether a command, or a worker of its own, is at work."""
    return holder(study) is not None or any(status.state == "running" for status in study_statuses(study).values())

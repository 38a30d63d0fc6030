"""A study's status from another terminal, followed until nobody is at work in it any more."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from statistics import mean

from rich.console import Console

from etude.curriculum.holding import holder
from etude.curriculum.jobs import open_jobs
from etude.curriculum.launch.display import make_display
from etude.curriculum.launch.estimate import makespan
from etude.curriculum.status import Status, study_status, study_statuses
from etude.envs.errors import RequestError

EVERY, EVERY_IN_QUEUE = 1.0, 10.0
"""Seconds between two looks: while something is at work, and while Slurm jobs wait for their turn."""


def follow(study: Path, console: Console) -> None:
    """Show the status, again and again, until nobody is at work in the study: as a picture, or as lines.

    Raises:
        RequestError: the folder is no study.
    """
    with make_display(console) as display:
        while (pause := _pause(study)) is not None:
            statuses = study_statuses(study)
            display.show(statuses, seconds_left(statuses))
            time.sleep(pause)


def follow_as_json(study: Path) -> None:
    """Print what `etude status --json` does, in a line of its own whenever it has changed.

    Raises:
        RequestError: the folder is no study.
    """
    last = ""
    while True:
        pause = _pause(study)
        line = json.dumps(study_status(study), ensure_ascii=False, allow_nan=False)
        if line != last:
            print(line, flush=True)
        last = line
        if pause is None:
            return
        time.sleep(pause)


def seconds_left(statuses: Mapping[str, Status]) -> float | None:
    """Until all runs are done, those that wait at the mean speed of those at work; None where none is at speed."""
    running = [status for status in statuses.values() if status.state == "running"]
    speeds = [status.speed for status in running if status.speed]
    if not speeds:
        return None
    waiting = [status for status in statuses.values() if status.state == "pending"]
    return makespan([(s.of - s.step) / (s.speed or mean(speeds)) for s in (*running, *waiting)], len(running))


def _pause(study: Path) -> float | None:
    """Seconds to the next look: None where no command, no worker and no Slurm job that can be asked for is left."""
    if holder(study) is not None or any(status.state == "running" for status in study_statuses(study).values()):
        return EVERY
    with suppress(RequestError):
        return EVERY_IN_QUEUE if open_jobs(study) else None
    return None

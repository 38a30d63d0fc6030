"""Where a run stands, as `status.json` says it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from etude.curriculum.saves import write_text
from etude.curriculum.study import RunFolder, StudyFolder

State = Literal["pending", "running", "done", "diverged", "failed"]


@dataclass(frozen=True)
class Status:
    """Where a run stands.

    Attributes:
        state: `diverged` is a result, and stays; `failed` is tried again by the next command.
        task: the task being learnt, or `joint`; None before the first and after the last.
        step: environment steps since the run's start.
        of: steps of the whole run.
        scores: the latest mean score of each task evaluated so far.
        speed: environment steps a second since this process took the run up, evaluation and saves included.
        seconds: spent so far on `learning`, `evaluation` and `saving` (records, saves, policies).
        reason: why it diverged, failed, or stands still.
        exact: false once it has gone on from a save whose environments could not be restored, with new episodes there.
    """

    state: State = "pending"
    task: str | None = None
    step: int = 0
    of: int = 0
    scores: dict[str, float] = field(default_factory=dict)
    speed: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    reason: str | None = None
    exact: bool = True

    @property
    def score(self) -> float | None:
        """The latest of the task being learnt; of the last one, when all are learnt at once or the run is done."""
        if self.state == "done" or self.task == "joint":
            return next(reversed(self.scores.values()), None)
        return self.scores.get(self.task or "")

    @property
    def seconds_left(self) -> float | None:
        """Until the run is done, at the speed so far; None where it is not running."""
        return (self.of - self.step) / self.speed if self.state == "running" and self.speed else None


def read_status(path: Path) -> Status:
    """The status in a file; that of a run not yet begun where there is none, or none that can be read."""
    try:
        values = json.loads(path.read_bytes())
        if values["state"] in get_args(State):
            return Status(**values)
    except FileNotFoundError:
        if not RunFolder(path.parent).evaluations.exists():
            return Status()
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return Status(reason=f"{path.name} cannot be read; the same command goes on")


def write_status(path: Path, status: Status) -> None:
    """Replace the file in one step, so that a reader never meets half of it."""
    write_text(path, json.dumps(asdict(status), allow_nan=False) + "\n")


def run_status(run: RunFolder) -> Status:
    """Where a run stands now; one whose process is gone is pending, and says so."""
    status = read_status(run.status)
    if status.state == "running" and not run.is_held():
        # It may have ended between the two looks.
        status = read_status(run.status)
        if status.state == "running":
            return replace(status, state="pending", speed=None, reason="stopped; the same command goes on")
    return status


def study_status(study: Path) -> dict[str, Any]:
    """Where every run of a study stands, in the suite's order, as `etude status --json` prints it.

    Raises:
        RequestError: the folder is no study.
    """
    from etude.curriculum.jobs import jobs_in_words
    from etude.curriculum.plan import plan_run, run_names
    from etude.curriculum.suite import read_suite

    suite, jobs = read_suite(study), jobs_in_words(study)
    rows = []
    for name in run_names(suite):
        steps = plan_run(suite, name.group).segments[-1].end
        status = replace(run_status(StudyFolder(study).run(name)), of=steps)
        rows.append(
            {"run": str(name), "state": status.state, "step": status.step, "steps": steps, "task": status.task}
            | {"scores": status.scores, "score": status.score, "speed": status.speed, "seconds": status.seconds}
            | {"seconds_left": status.seconds_left, "reason": status.reason}
            | {"exact": status.exact, "job": jobs.get(str(name))}
        )
    return {"study": str(study), "runs": rows}

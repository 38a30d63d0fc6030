"""Where a run stands, as `status.json` says it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, with_config

from etude.curriculum.saves import newest_step, write_text
from etude.curriculum.study import RunFolder, StudyFolder

AGAIN = "; the same command goes on"

State = Literal["pending", "running", "done", "diverged", "failed"]


Count = Annotated[int, Field(ge=0, le=10**15)]


@with_config(ConfigDict(strict=True, extra="forbid", allow_inf_nan=False))
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
        lost: steps it had learnt past its newest save when it was stopped; None where it was not stopped.
        exact: false once it has gone on from a save whose environments could not be restored, with new episodes there.
    """

    state: State = "pending"
    task: str | None = None
    step: Count = 0
    of: Count = 0
    scores: dict[str, float] = field(default_factory=dict)
    speed: Annotated[float, Field(ge=0.1)] | None = None
    seconds: dict[str, Annotated[float, Field(ge=0)]] = field(default_factory=dict)
    reason: str | None = None
    lost: Count | None = None
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


_STORED = TypeAdapter(Status)


def read_status(path: Path) -> Status:
    """The status in a file; that of a run not yet begun where there is none, or none that can be read."""
    try:
        return _STORED.validate_json(path.read_bytes())
    except FileNotFoundError:
        if not RunFolder(path.parent).evaluations.exists():
            return Status()
    except (OSError, ValueError):
        pass
    return Status(reason=f"{path.name} cannot be read{AGAIN}")


def write_status(path: Path, status: Status) -> None:
    """Replace the file in one step, so that a reader never meets half of it."""
    write_text(path, json.dumps(asdict(status), allow_nan=False) + "\n", lasting=False)


def run_status(run: RunFolder) -> Status:
    """Where a run stands now; one whose process is gone is pending at its newest save, and says so."""
    status = read_status(run.status)
    if status.state == "running" and not run.is_held():
        # It may have ended between the two looks.
        status = read_status(run.status)
        if status.state == "running":
            step = newest_step(run.save)
            where = f"the save of step {step:,}" if step else "the beginning"
            lost = max(0, status.step - step)
            told = f" at step {status.step:,}; goes on from {where}" if lost else AGAIN
            return replace(status, state="pending", step=step, speed=None, reason=f"stopped{told}", lost=lost)
    return status


def steps_kept(run: RunFolder, status: Status) -> int:
    """The step that a run goes on from; of one at work or at its end, where that is."""
    return newest_step(run.save) if status.state in ("pending", "failed") else status.step


def study_statuses(study: Path) -> dict[str, Status]:
    """Where every run of a study stands, by its name, in the suite's order.

    Raises:
        RequestError: the folder is no study.
    """
    from etude.curriculum.plan import plan_run, run_names
    from etude.curriculum.suite import read_suite

    suite = read_suite(study)
    names = run_names(suite)
    ends = {group: plan_run(suite, group).segments[-1].end for group in {name.group for name in names}}
    return {str(name): replace(run_status(StudyFolder(study).run(name)), of=ends[name.group]) for name in names}


def study_status(study: Path) -> dict[str, Any]:
    """Where every run of a study stands, as `etude status --json` prints it.

    Raises:
        RequestError: the folder is no study.
    """
    from etude.curriculum.jobs import jobs_in_words

    jobs = jobs_in_words(study)
    rows = []
    for name, status in study_statuses(study).items():
        rows.append(
            {"run": name, "state": status.state, "step": status.step, "steps": status.of, "task": status.task}
            | {"scores": status.scores, "score": status.score, "speed": status.speed, "seconds": status.seconds}
            | {"seconds_left": status.seconds_left, "reason": status.reason}
            | {"lost": status.lost, "exact": status.exact, "job": jobs.get(name)}
        )
    return {"study": str(study), "runs": rows}

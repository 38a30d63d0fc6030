"""The Slurm jobs of a study, in its `jobs.json` as long as they may be at work there, and what Slurm says of them."""

from __future__ import annotations

import getpass
import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from etude.curriculum.saves import write_text
from etude.envs.errors import RequestError

ENDED = "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED TIMEOUT".split()
FORGOTTEN = "GONE"


@with_config(ConfigDict(strict=True, extra="forbid"))
@dataclass(frozen=True)
class Jobs:
    """Jobs that were submitted for a study's runs.

    Attributes:
        by: who submitted them where, like `maria@login1`.
        ids: Slurm's job of each run, by the run's name.
    """

    by: str
    ids: dict[str, str]

    @property
    def cancel(self) -> str:
        """The command that ends them all."""
        return "scancel " + " ".join(dict.fromkeys(job.split("_")[0] for job in self.ids.values()))


_STORED = TypeAdapter(Jobs)


@dataclass(frozen=True)
class JobState:
    """What Slurm says of a job: its state, like PENDING, and why, like Priority."""

    state: str
    why: str = ""

    @property
    def ended(self) -> bool:
        """Whether it will not run any more."""
        return self.state in (*ENDED, FORGOTTEN)

    def __str__(self) -> str:
        """As a line shows it."""
        told = self.state.lower().replace("_", " ")
        return told if self.why in ("", "None") else f"{told} ({self.why})"


def write_jobs(study: Path, ids: Mapping[str, str]) -> Jobs:
    """Say in a study which jobs are at work in it."""
    jobs = Jobs(f"{getpass.getuser()}@{os.uname().nodename}", dict(ids))
    write_text(_path(study), json.dumps(asdict(jobs), indent=1) + "\n")
    return jobs


def read_jobs(study: Path) -> Jobs | None:
    """The jobs that were last said to be at work in a study; None where there are none."""
    try:
        return _STORED.validate_json(_path(study).read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        fault = error.errors()[0]["msg"]
        raise RequestError(f"{_path(study)}: cannot be read ({fault}); delete it if no Slurm job is at work") from None


def forget_jobs(study: Path) -> None:
    """Say that no jobs are at work any more."""
    if _path(study).exists():  # A folder that is read-only refuses to remove even what is not there.
        _path(study).unlink(missing_ok=True)


def open_jobs(study: Path) -> dict[str, tuple[str, JobState]]:
    """The jobs that wait or run in a study, by the names of their runs: id and state.

    Raises:
        RequestError: there may be some, and Slurm cannot be asked here.
    """
    jobs = read_jobs(study)
    if jobs is None:
        return {}
    try:
        states = ask_slurm(jobs.ids.values())
    except OSError as error:
        raise RequestError(
            f"{study}: Slurm jobs of {jobs.by} may be at work here, and Slurm cannot be asked ({error}); "
            f"ask on its machines, or delete {_path(study)} if there are none"
        ) from None
    return {run: (job, states[job]) for run, job in jobs.ids.items() if not states[job].ended}


def jobs_in_words(study: Path) -> dict[str, str]:
    """What waits or runs in a study, by the names of the runs: `Slurm job 12_0: pending (Resources)`."""
    try:
        return {run: f"Slurm job {job}: {state}" for run, (job, state) in open_jobs(study).items()}
    except RequestError:
        jobs = read_jobs(study)
        return {run: f"Slurm job {job}; Slurm cannot be asked here" for run, job in jobs.ids.items()} if jobs else {}


def refuse_beside_jobs(study: Path) -> None:
    """Let nothing else begin in a study where Slurm jobs wait or run.

    Raises:
        RequestError: some do, or may.
    """
    found = open_jobs(study)
    jobs = read_jobs(study)
    if not found or jobs is None:
        return forget_jobs(study)
    ids = ", ".join(job for job, _ in found.values())
    raise RequestError(
        f"{study}: Slurm jobs {ids} of {jobs.by} are at work here; "
        f"etude status {study} shows them, {jobs.cancel} ends them"
    )


def ask_slurm(ids: Iterable[str]) -> dict[str, JobState]:
    """What Slurm says of jobs; one that it has forgotten has ended.

    Raises:
        OSError: Slurm is not there, or does not answer.
    """
    ids = list(ids)
    arrays = ",".join(dict.fromkeys(job.split("_")[0] for job in ids))
    command = ["squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%r", f"--jobs={arrays}"]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    if asked.returncode and "Invalid job id" not in asked.stderr:
        lines = asked.stderr.strip().split("\n")
        raise OSError(lines[-1])
    found = {}
    for line in asked.stdout.splitlines():
        job, state, why = line.strip().split("|", 2)
        found[job] = JobState(state, why)
    return {job: found.get(job, JobState(FORGOTTEN)) for job in ids}


def _path(study: Path) -> Path:
    return study / "jobs.json"

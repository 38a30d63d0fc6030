"""Runs as Slurm jobs, one each, submitted with submitit: saved, requeued and resumed at the end of their time."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from etude.curriculum.holding import BEAT, STALE, holder
from etude.curriculum.jobs import ask_slurm, forget_jobs, read_jobs, write_jobs
from etude.curriculum.launch.pool import THREADS, Answer, Order
from etude.curriculum.launch.profile import SlurmProfile
from etude.curriculum.status import Status, read_status, write_status
from etude.curriculum.study import RunFolder
from etude.envs.errors import RequestError

if TYPE_CHECKING:
    from submitit.core.utils import DelayedSubmission

PATIENCE = STALE + 2 * BEAT
"""Seconds that a job waits for the machine that had its run before to be silent long enough."""

ASK_EVERY = 5.0
CERTAIN = 3
"""How often Slurm must say that a job has ended which has not said so itself: shared files may be seen late."""


class Slurm:
    """A Slurm cluster whose machines share this one's files."""

    name = "slurm"

    def __init__(self, profile: SlurmProfile, at_once: int | None) -> None:
        """Use the cluster that this machine belongs to.

        Args:
            profile: what each run is given.
            at_once: runs side by side at the most; as many as there is room for if not given.

        Raises:
            RequestError: submitit is not installed, or Slurm's commands are not there.
        """
        self.profile, self.at_once = profile, at_once
        try:
            import submitit  # noqa: F401
        except ModuleNotFoundError:
            raise RequestError("--on slurm needs submitit; pip install 'etude[slurm]'") from None
        for command in ("sbatch", "srun", "squeue", "scontrol"):
            if shutil.which(command) is None:
                raise RequestError(f"--on slurm: there is no {command} here; give the command on a machine of Slurm's")

    def give(self, orders: Iterable[Order], idle: Callable[[], None] = lambda: None) -> Iterator[Answer]:
        """Submit a job a run, and yield an answer as each ends, which says why where Slurm ended it.

        A run that got on, stopped in order and was not begun again gets another job: Slurm may refuse to requeue one,
        or requeue it and then not start it.

        Raises:
            RequestError: Slurm does not take the jobs.
        """
        paths = [Path(order["run"]).absolute() for order in orders]
        study = paths[0].parent.parent
        begun = {path: _status(path).step for path in paths}
        jobs = dict(zip(paths, _submit(study, self.profile, paths, self.at_once), strict=True))
        write_jobs(study, {path.name: job for path, job in jobs.items()})
        ended, asked = dict.fromkeys(jobs, 0), 0.0
        while jobs:
            idle()
            time.sleep(0.5)
            if time.monotonic() - asked < ASK_EVERY:
                continue
            asked = time.monotonic()
            try:
                states = ask_slurm(jobs.values())
            except OSError:  # Slurm's controller may be away for a while.
                continue
            for path, job in list(jobs.items()):
                ended[path] = ended[path] + 1 if states[job].ended else 0
                status = _status(path)
                told = status.state in ("done", "diverged", "failed")
                if not ended[path] or not (told or (ended[path] >= CERTAIN and holder(path) is None)):
                    continue
                log = study / "slurm" / f"{job}_0_log.err"
                reason = f"Slurm job {job} ended, {states[job]}{_last_line(log)} ({log})"
                if status.state == "pending" and status.step > begun[path] and states[job].state != "CANCELLED":
                    try:
                        (jobs[path],) = _submit(study, self.profile, [path], at_once=None)
                        begun[path], ended[path] = status.step, 0
                        write_jobs(study, {path.name: job for path, job in jobs.items()})
                        continue
                    except RequestError as error:
                        reason = f"{reason}; {error}"
                del jobs[path]
                yield Answer({"run": str(path)}, error=None if told else reason, died=not told)
        idle()
        forget_jobs(study)

    def left_behind(self, study: Path) -> list[str]:
        """What to say where the command is stopped: the jobs go on."""
        jobs = read_jobs(study)
        if jobs is None:
            return []
        ids = ", ".join(jobs.ids.values())
        return [
            f"Slurm jobs {ids} go on without this command.",
            f"  etude status {study}    shows them",
            f"  {jobs.cancel}    ends them; what they recorded and saved is kept",
            "When they are done, the same command shows the results.",
        ]


class Job:
    """What a job does, as submitit calls it: the run, until it is done or is told to stop."""

    def __call__(self, path: str) -> bool:
        """Bring a run on, and have the job requeued where it was stopped and not cancelled."""
        from submitit.core.utils import UncompletedJobError

        from etude.curriculum.launch.worker import execute_logged

        heard: list[int] = []
        requeue: Any = signal.getsignal(signal.SIGUSR2)  # submitit's, which requeues and exits.
        for number in (signal.SIGUSR2, signal.SIGTERM):
            signal.signal(number, lambda number, frame: heard.append(number))
        finished = execute_logged(Path(path), stop=lambda: bool(heard), patience=PATIENCE)
        if not finished and (signal.SIGUSR2 in heard or _is_running(os.environ["SLURM_JOB_ID"])):
            try:
                requeue(signal.SIGUSR2, None)
            except UncompletedJobError:
                status, seed = _status(Path(path)), path.rpartition("seed")[2]
                why = "its job came to its time limit more often than profile.requeues allows; the same command goes on"
                reason = f"{status.task} at step {status.step:,}, seed {seed}: {why}"
                write_status(RunFolder(Path(path)).status, replace(status, state="failed", reason=reason))
                raise
        return finished

    def checkpoint(self, path: str) -> DelayedSubmission:
        """What the requeued job shall do: the same."""
        from submitit.core.utils import DelayedSubmission

        return DelayedSubmission(self, path)


def sbatch_options(profile: SlurmProfile) -> dict[str, Any]:
    """The options of sbatch, by submitit's names, that a profile stands for."""
    given: dict[str, Any] = {"partition": profile.partition, "account": profile.account, "qos": profile.qos}
    given |= {"time": profile.minutes, "signal_delay_s": profile.notice, "cpus_per_task": profile.cpus}
    given |= {"mem": None if profile.memory_gb is None else f"{round(1024 * profile.memory_gb)}M"}
    given |= {"gpus_per_node": profile.gpus or None}
    options = {key: value for key, value in given.items() if value is not None}
    return options | {"additional_parameters": {"requeue": True} | profile.options}


def sbatch_lines(profile: SlurmProfile) -> dict[str, object]:
    """The same as sbatch itself has them, and the setup."""
    options = sbatch_options(profile)
    options |= options.pop("additional_parameters")
    options["signal"] = f"USR2@{options.pop('signal_delay_s')}"
    lines: dict[str, object] = {key.replace("_", "-"): value for key, value in sorted(options.items())}
    return lines | ({"setup": "; ".join(profile.setup)} if profile.setup else {})


def _submit(study: Path, profile: SlurmProfile, paths: list[Path], at_once: int | None) -> list[str]:
    import submitit
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    here = os.pathsep.join(path for path in sys.path if path)
    exports = [f"export PYTHONPATH={shlex.quote(here)}", *(f"export {name}=1" for name in THREADS)]
    try:
        executor = submitit.SlurmExecutor(study / "slurm", max_num_timeout=profile.requeues)
        executor.update_parameters(
            job_name=f"etude-{study.name}",
            array_parallelism=at_once or len(paths),
            setup=[*exports, *profile.setup],
            **sbatch_options(profile),
        )
        with executor.batch():
            jobs = [executor.submit(Job(), str(path)) for path in paths]
        return [job.job_id for job in jobs]
    except (FailedJobError, FailedSubmissionError, ValueError) as error:
        lines = [line.strip() for line in str(error).split("\n") if line.strip()]
        told = [line for line in lines if line.startswith("sbatch:")] or lines
        raise RequestError(f"--on slurm: {told[0]}; change the profile") from None


def _is_running(job: str) -> bool:
    """Whether Slurm means a job to be running, and has not been told to cancel it."""
    command = ["squeue", "--noheader", "--states=all", "--format=%T", f"--jobs={job}"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() == "RUNNING"


def _status(path: Path) -> Status:
    return read_status(RunFolder(path).status)


def _last_line(log: Path) -> str:
    try:
        lines = [line.strip() for line in log.read_text(errors="replace").split("\n") if line.strip()]
    except OSError:
        return ""
    return f": {lines[-1]}" if lines else ""

"""Where everything lies in a study's folder, and who is at work in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from etude.envs.errors import RunError


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run, `runs/<name>`."""

    path: Path

    @property
    def study(self) -> StudyFolder:
        """The study it belongs to."""
        return StudyFolder(self.path.parent.parent)

    @property
    def status(self) -> Path:
        """Where it stands: state, task, step, scores so far."""
        return self.path / "status.json"

    @property
    def evaluations(self) -> Path:
        """The record: one line a (checkpoint, task)."""
        return self.path / "evaluations.jsonl"

    @property
    def training(self) -> Path:
        """Statistics of training, one line a checkpoint."""
        return self.path / "training.jsonl"

    @property
    def cost(self) -> Path:
        """What it cost so far: memory, sizes, operations."""
        return self.path / "cost.json"

    @property
    def save(self) -> Path:
        """The stored state from which the run goes on."""
        return self.path / "save"

    @property
    def log(self) -> Path:
        """What the run's process printed, and the traceback where it failed; missing where there is nothing."""
        return self.path / "log.txt"

    def policy(self, step: int) -> Path:
        """The folder of the policy as it was at a step: 0, or the end of a task."""
        return self.path / "policies" / str(step)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep every other process from executing this run.

        Raises:
            RunError: another process executes it.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with hold(self.path) as got:
            if not got:
                raise RunError(f"{self.path}: another process executes this run")
            yield

    def is_held(self) -> bool:
        """Whether a process executes this run now, on this machine."""
        return self.path.is_dir() and is_held(self.path)


@dataclass(frozen=True)
class StudyFolder:
    """The folder that a suite's runs fill."""

    path: Path

    @property
    def environment(self) -> Path:
        """What the study was run on: versions, processor, platform."""
        return self.path / "environment.json"

    @property
    def references(self) -> Path:
        """The returns of oracle, random and zero action on every task's evaluation episodes."""
        return self.path / "references.json"

    def run(self, name: object) -> RunFolder:
        """The folder of a run, by its name."""
        return RunFolder(self.path / "runs" / str(name))


@contextmanager
def hold(folder: Path) -> Iterator[bool]:
    """Hold a folder as long as the block lasts or the process lives; False where another process does."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def is_held(folder: Path) -> bool:
    """Whether a process holds the folder."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False

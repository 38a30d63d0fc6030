"""Where everything lies in a study's folder, and who is at work in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from etude.curriculum.holding import Hold, hold, holder
from etude.curriculum.saves import make_folder
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
    def held(self, patience: float = 0.0) -> Iterator[Hold]:
        """Keep every other process from executing this run.

        Args:
            patience: seconds to wait for another process to be gone.

        Raises:
            RunError: another process executes it.
        """
        make_folder(self.path)
        with hold(self.path, patience) as got:
            if got is None:
                raise RunError(f"{self.path}: another process executes this run ({holder(self.path)})")
            yield got

    def is_held(self) -> bool:
        """Whether a process executes this run now, on this machine or another."""
        return holder(self.path) is not None


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

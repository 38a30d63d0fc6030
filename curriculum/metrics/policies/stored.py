"""The policies that a study's sequential runs have stored, and what was measured of them so far."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from etude.curriculum.saves import write_file
from etude.curriculum.study import RunFolder, StudyFolder
from etude.envs.errors import RequestError, RunError

if TYPE_CHECKING:
    from gymnasium import Space

    from etude.curriculum.agents.protocol import Agent
    from etude.curriculum.metrics.curves import Curves

Arrays = Mapping[str, NDArray[Any]]

VERSION = 1
"""Raised whenever what is kept in the cache would come out otherwise, so that it is measured again."""


class Unmeasurable(Exception):
    """What a metric of policies lacks, in words."""


class Policies:
    """What metrics read of a study's stored policies: policy k is that after k tasks, 0 the untrained one.

    Attributes:
        curves: the study's records.
        suite: its suite.
        tell: called with what is being measured now, in words.
    """

    def __init__(self, curves: Curves) -> None:
        """Those of the study that the records are from; nothing is read yet."""
        self.curves = curves
        self.suite = curves.suite
        self.tell: Callable[[str], None] | None = None
        self._cache = curves.study / "cache"
        self._known: dict[str, Arrays] = {}
        self._digests: dict[Path, str] = {}
        self._prints: dict[tuple[str, int], Any] = {}

    @property
    def tasks(self) -> tuple[str, ...]:
        """Task ids in the order of training."""
        return self.suite.tasks

    @property
    def episodes(self) -> int:
        """Evaluation episodes of a task."""
        return self.suite.evaluation.episodes

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What to call the policies: `untrained`, then `after` the task that each was trained on last."""
        return ("untrained", *(f"after {task}" for task in self.tasks))

    def run(self, seed: int) -> RunFolder:
        """The folder of a seed's sequential run."""
        return StudyFolder(self.curves.study).run(f"sequential-seed{seed}")

    def folder(self, seed: int, k: int) -> Path:
        """The folder of a stored policy.

        Raises:
            Unmeasurable: it is not there.
        """
        folder = self.run(seed).policy((0, *self.suite.ends)[k])
        if not folder.is_dir():
            raise Unmeasurable(f"needs the stored policy {folder.relative_to(self.curves.study)}, which is not there")
        return folder

    def agent(self, seed: int, k: int, *abilities: str, draws: int = 0) -> Any:
        """A new agent with a stored policy.

        Args:
            seed: of the run.
            k: which policy.
            abilities: methods beyond the protocol that will be called.
            draws: the seed of its own randomness.

        Raises:
            Unmeasurable: the policy is not there or cannot be read, or the agent lacks one of the methods.
        """
        import torch

        from etude.curriculum.agents import make_agent

        folder = self.folder(seed, k)
        torch.set_num_threads(1)
        agent: Agent = make_agent(self.suite.agent, *self.spaces, draws)
        for ability in abilities:
            if not hasattr(agent, ability):
                raise Unmeasurable(f"needs {ability}, which the agent {type(agent).__name__} does not have")
        try:
            agent.load_policy(folder)
        except Exception as error:
            raise Unmeasurable(f"{folder}: cannot be read ({type(error).__name__}: {error})") from error
        return agent

    @cached_property
    def spaces(self) -> tuple[Space[Any], Space[Any]]:
        """The observation and the action space of one simulation, as the agent sees it."""
        from etude.curriculum.evaluator import task_envs

        envs = task_envs(self.suite, self.tasks[0], 1)
        envs.close()
        return envs.single_observation_space, envs.single_action_space

    def digest(self, seed: int, k: int) -> str:
        """SHA-256 of a stored policy's files."""
        folder = self.folder(seed, k)
        if folder not in self._digests:
            content = hashlib.sha256()
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    content.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
            self._digests[folder] = content.hexdigest()
        return self._digests[folder]

    def fingerprint(self, task: str, episodes: int) -> dict[str, Any]:
        """What a task's episodes depend on, as its references have it.

        Raises:
            Unmeasurable: the task or its oracle is not there.
        """
        from etude.oracles import fingerprint

        if (task, episodes) not in self._prints:
            try:
                self._prints[task, episodes] = fingerprint(task, episodes)
            except RequestError as error:
                raise Unmeasurable(str(error)) from error
        return dict(self._prints[task, episodes])

    def kept(self, what: str, depends: Mapping[str, Any], measure: Callable[[], Arrays], told: str = "") -> Arrays:
        """What was measured before, or is measured now and kept in the study's `cache/` for the next time.

        Args:
            what: which quantity; the beginning of the file's name.
            depends: all that it depends on beside the suite's tasks and agent, as JSON has it.
            measure: measures it. Nothing remains of it in the process's random generators.
            told: what to tell while it is measured.

        Raises:
            Unmeasurable: it cannot be measured.
        """
        suite = {"tasks": self.tasks, "task_id": self.suite.task_id, "agent": self.suite.agent.model_dump(mode="json")}
        described = json.dumps({"what": what, "version": VERSION, **suite, **depends}, sort_keys=True, default=str)
        name = f"{what}-{hashlib.sha256(described.encode()).hexdigest()[:24]}"
        if name not in self._known:
            path = self._cache / f"{name}.npz"
            arrays = _read(path)
            if arrays is None:
                from etude.curriculum.agents.generators import untouched_generators

                if self.tell is not None:
                    self.tell(told or what)
                try:
                    with untouched_generators():
                        arrays = measure()
                except Unmeasurable:
                    raise
                except Exception as error:  # an agent of the user's own may raise anything
                    whose = "" if isinstance(error, RunError | RequestError) else f"{type(error).__name__}: "
                    raise Unmeasurable(f"{told or what}: {whose}{error}") from error
                self._cache.mkdir(exist_ok=True)
                _write(path, arrays)
            self._known[name] = arrays
        return self._known[name]


def _read(path: Path) -> Arrays | None:
    """The arrays of a file; None where there is none that can be read."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return dict(stored)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None


def _write(path: Path, arrays: Arrays) -> None:
    write_file(path, lambda aside: np.savez_compressed(aside, allow_pickle=False, **arrays))

"""A study's records as arrays: every evaluation episode of every run, and the references that make scores of them."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.once import once
from etude.curriculum.plan import Plan, RunName, groups, plan_run
from etude.curriculum.records import Evaluation, read_evaluations
from etude.curriculum.status import run_status
from etude.curriculum.study import RunFolder, StudyFolder
from etude.curriculum.suite import Suite, read_suite
from etude.envs.errors import RequestError
from etude.oracles.scores import FAILING_POLICIES, score

if TYPE_CHECKING:
    from etude.curriculum.metrics.policies.stored import Policies
    from etude.curriculum.metrics.view import StudyView

Of = Literal["score", "success"]


@dataclass(frozen=True, eq=False)
class Reference:
    """What a task's scores are measured against, on the evaluation episodes themselves.

    Attributes:
        oracle: (E,) returns of the oracle; their mean is score 100.
        floors: (E,) returns of each failing policy; the largest of their means is score 0.
    """

    oracle: FloatArray
    floors: tuple[FloatArray, ...]


@dataclass(frozen=True, eq=False)
class RegimeRecords:
    """All runs of one group, which is what a regime trains in one way.

    Attributes:
        steps: (K,) checkpoints, counted from the run's start.
        seeds: those the suite asks for, whether or not they ran.
        returns: (S, N, K, E) undiscounted returns, a row a seed; nan where there is no evaluation.
        successes: (S, N, K, E) 1 where the episode's last step was a success, else 0; nan as in `returns`.
        lengths: (S, N, K, E) steps of the episodes; nan as in `returns`.
        unfinished: seeds that do not count, and why.
    """

    steps: NDArray[np.int64]
    seeds: tuple[int, ...]
    returns: FloatArray
    successes: FloatArray
    lengths: FloatArray
    unfinished: Mapping[int, str]

    @property
    def finished(self) -> tuple[int, ...]:
        """The seeds whose record is whole: metrics count these."""
        return tuple(seed for seed in self.seeds if seed not in self.unfinished)


@dataclass(frozen=True, eq=False)
class Curves:
    """The learning curves of a study.

    Attributes:
        study: its folder.
        suite: its resolved suite.
        of: what metrics read: scores, or success rates in percent.
        references: of each task; empty when `of` is "success".
        regimes: the records of each group of runs (`sequential`, `isolated-reach`, ...), in the order of the suite's
            regimes. N is the suite's own order of tasks in each.
        found: what functions under `once` have returned of these curves.
    """

    study: Path
    suite: Suite
    of: Of
    references: Mapping[str, Reference]
    regimes: Mapping[str, RegimeRecords]
    found: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    @cached_property
    def policies(self) -> "Policies":
        """The policies that the sequential runs have stored; nothing of them is read before a metric asks."""
        from etude.curriculum.metrics.policies.stored import Policies

        return Policies(self)

    @once
    def plan(self, group: str) -> Plan:
        """The plan of a group's runs.

        Raises:
            RequestError: there is no such group.
        """
        return plan_run(self.suite, group)

    @once
    def view(self, seeds: tuple[int, ...]) -> "StudyView":
        """The view of these seeds, one for all who ask, so that nothing is averaged twice."""
        from etude.curriculum.metrics.view import StudyView

        return StudyView(self, seeds)


def load_curves(study: Path, of: Of = "score") -> Curves:
    """Read a study's suite, references and records.

    Runs that are missing or unfinished are noted with the reason, never filled in.

    Raises:
        RequestError: the folder is no study, or a file in it does not fit the suite: the line names the file.
    """
    if of not in ("score", "success"):
        raise RequestError(f"of: {of!r} is not known, must be score or success")
    suite = read_suite(study)
    references = read_references(study, suite) if of == "score" else {}
    return Curves(study, suite, of, references, {group: _load_group(study, suite, group) for group in groups(suite)})


def read_references(study: Path, suite: Suite) -> dict[str, Reference]:
    """The references of every task of the suite.

    Raises:
        RequestError: the file or a task is missing, the episodes are not the evaluation's, or the oracle's mean return
            does not exceed the floor.
    """
    path = StudyFolder(study).references
    if not path.exists():
        raise RequestError(f"{path}: missing, so there are no scores (success rates need none)")
    try:
        stored = json.loads(path.read_bytes())
    except ValueError as error:
        raise RequestError(f"{path}: not JSON ({error})") from None
    return {task: _parse_reference(stored, task, suite.evaluation.episodes, path) for task in suite.tasks}


def _parse_reference(stored: object, task: str, episodes: int, path: Path) -> Reference:
    try:
        entry = stored[task]  # type: ignore[index]
        oracle = np.asarray(entry["oracle"]["returns"], dtype=np.float64)
        floors = tuple(
            np.asarray(entry[policy]["returns"], dtype=np.float64) for policy in FAILING_POLICIES if policy in entry
        )
        other = next((returns.size for returns in (oracle, *floors) if returns.shape != (episodes,)), None)
        if other is None:
            score((), entry)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise RequestError(f"{path}, {task}: not a reference ({type(error).__name__}: {error})") from None
    if other is not None:
        raise RequestError(f"{path}, {task}: {other} episodes, but the suite evaluates {episodes}")
    return Reference(oracle, floors)


def _load_group(study: Path, suite: Suite, group: str) -> RegimeRecords:
    checkpoints = plan_run(suite, group).checkpoints
    cells = {
        (checkpoint.step, task): (suite.tasks.index(task), column)
        for column, checkpoint in enumerate(checkpoints)
        for task in checkpoint.tasks
    }
    shape = (len(suite.seeds), len(suite.tasks), len(checkpoints), suite.evaluation.episodes)
    returns, successes, lengths = (np.full(shape, np.nan) for _ in range(3))
    unfinished = {}
    for row, seed in enumerate(suite.seeds):
        run = StudyFolder(study).run(RunName(group, seed))
        wanted = dict(cells)
        for line, evaluation in enumerate(read_evaluations(run.evaluations), 1):
            cell = wanted.pop((evaluation.step, evaluation.task), None)
            if cell is None or len(evaluation.returns) != suite.evaluation.episodes:
                raise RequestError(f"{run.evaluations}, line {line}: {_fault(evaluation, cells, suite)}")
            returns[row, *cell] = evaluation.returns
            successes[row, *cell] = evaluation.successes
            lengths[row, *cell] = evaluation.lengths
        if wanted:
            unfinished[seed] = _why_unfinished(run, wanted)
    steps = np.array([checkpoint.step for checkpoint in checkpoints], dtype=np.int64)
    return RegimeRecords(steps, suite.seeds, returns, successes, lengths, unfinished)


def _fault(evaluation: Evaluation, cells: Mapping[tuple[int, str], tuple[int, int]], suite: Suite) -> str:
    what = f"{evaluation.task} at step {evaluation.step}"
    if (evaluation.step, evaluation.task) not in cells:
        return f"{what} is not an evaluation that suite.yaml asks for"
    if len(evaluation.returns) != suite.evaluation.episodes:
        return f"{what} has {len(evaluation.returns)} episodes, suite.yaml asks for {suite.evaluation.episodes}"
    return f"{what} is recorded twice"


def _why_unfinished(run: RunFolder, wanted: Collection[tuple[int, str]]) -> str:
    status = run_status(run)
    if status.state == "done":
        step, task = min(wanted)
        return f"its record lacks {task} at step {step}"
    progress = f" at step {status.step} of {status.of}" if status.step else ""
    return f"{status.state}{progress}" + (f": {status.reason}" if status.reason else "")

"""When a run trains on what, and at which steps it is evaluated on which tasks."""

from dataclasses import dataclass
from itertools import pairwise

from etude.curriculum.suite import REGIMES, Suite
from etude.envs.errors import RequestError, nearest


@dataclass(frozen=True)
class RunName:
    """A run of a study: one regime with one seed. As text, the name of its folder: `sequential-seed0`."""

    regime: str
    seed: int

    def __str__(self) -> str:
        """The folder's name."""
        return f"{self.regime}-seed{self.seed}"


@dataclass(frozen=True)
class Checkpoint:
    """A step, counted from the run's start, and the tasks that are evaluated there, in the suite's order."""

    step: int
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class Segment:
    """One task's training: `budget` steps from `start` on, and the checkpoints after `start`, its end the last."""

    task: str
    start: int
    budget: int
    checkpoints: tuple[Checkpoint, ...]

    @property
    def end(self) -> int:
        """The step at which the training on this task ends."""
        return self.start + self.budget


@dataclass(frozen=True)
class Plan:
    """The evaluation of the untrained agent, then the segments, one after another."""

    zero: Checkpoint
    segments: tuple[Segment, ...]

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """All checkpoints in order, zero the first."""
        return (self.zero, *(checkpoint for segment in self.segments for checkpoint in segment.checkpoints))


def run_names(suite: Suite) -> list[RunName]:
    """The runs of a study: the seeds of each regime, in the suite's order."""
    return [RunName(regime, seed) for regime in suite.regimes for seed in suite.seeds]


def plan_run(suite: Suite, regime: str) -> Plan:
    """The plan of a regime's runs, the same for all seeds.

    `sequential` trains on all tasks in order; while task i trains, the tasks begun so far are evaluated, and all of
    them at 0 and at each task's end. `scratch` trains and evaluates the composition alone, for its own budget.

    Raises:
        RequestError: there is no such regime.
    """
    if regime not in REGIMES:
        raise RequestError(f"there is no regime {regime!r}; {nearest(regime, REGIMES)}")
    if regime == "scratch":
        alone = (suite.composition,)
        segment = _segment(suite, suite.composition, start=0, begun=alone, at_end=alone)
        return Plan(Checkpoint(0, alone), (segment,))
    segments = tuple(
        _segment(suite, task, start, begun=suite.tasks[: i + 1], at_end=suite.tasks)
        for i, (task, (start, _)) in enumerate(zip(suite.tasks, pairwise((0, *suite.ends)), strict=True))
    )
    return Plan(Checkpoint(0, suite.tasks), segments)


def _segment(suite: Suite, task: str, start: int, begun: tuple[str, ...], at_end: tuple[str, ...]) -> Segment:
    budget, every = suite.budget[task], suite.evaluation.every
    offsets = {*range(every, budget, every), *(offset for offset in suite.evaluation.also if offset < budget)}
    inner = [Checkpoint(start + offset, begun) for offset in sorted(offsets)]
    return Segment(task, start, budget, (*inner, Checkpoint(start + budget, at_end)))

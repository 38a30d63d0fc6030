"""When a run trains on what, and at which steps it is evaluated on which tasks."""

from collections.abc import Sequence
from dataclasses import dataclass

from etude.curriculum.suite import REGIMES, Suite
from etude.envs.errors import RequestError, nearest

JOINT = "joint"
"""What a segment is called in which all tasks are learnt at once."""


@dataclass(frozen=True)
class RunName:
    """A run of a study: one group with one seed. As text, the name of its folder: `sequential-seed0`.

    A group is what a regime trains in one way: `isolated` has the group `isolated-reach`, and one for every other task.
    """

    group: str
    seed: int

    def __str__(self) -> str:
        """The folder's name."""
        return f"{self.group}-seed{self.seed}"


@dataclass(frozen=True)
class Checkpoint:
    """A step, counted from the run's start, and the tasks that are evaluated there, in the suite's order."""

    step: int
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class Segment:
    """Training on one task, or on several at once: `budget` steps from `start` on, the last checkpoint at its end."""

    tasks: tuple[str, ...]
    start: int
    budget: int
    checkpoints: tuple[Checkpoint, ...]

    @property
    def task(self) -> str:
        """The task's id, or `joint` where there are several."""
        return self.tasks[0] if len(self.tasks) == 1 else JOINT

    @property
    def end(self) -> int:
        """The step at which this training ends."""
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

    def checkpoints_left(self, kept: int) -> tuple[Checkpoint, ...]:
        """Those to come for a run whose newest save is of step `kept`, 0 where it has none."""
        return tuple(checkpoint for checkpoint in self.checkpoints if checkpoint.step > kept or not kept)


def groups(suite: Suite) -> tuple[str, ...]:
    """The groups of a study's runs, in the order of the suite's regimes."""
    wanted = ("orders" if regime == "sequential" else regime for regime in suite.regimes)
    return tuple(dict.fromkeys(group for regime in wanted for group in groups_of(suite, regime)))


def groups_of(suite: Suite, regime: str) -> tuple[str, ...]:
    """The groups of one regime, whether or not the suite asks for it.

    `isolated` ends in `scratch`, which is the composition's isolated run. `sequential` is the suite's own order alone;
    `orders`, which is no regime by itself, stands for that and the sequential runs in every other order.

    Raises:
        RequestError: there is no such regime.
    """
    primitives = suite.tasks[:-1]
    if regime == "orders":
        return ("sequential", *(f"sequential-order{place}" for place in range(2, len(suite.orders) + 1)))
    if regime == "isolated":
        return (*(f"isolated-{task}" for task in primitives), "scratch")
    if regime == "leave-one-out":
        return tuple(f"sequential-without-{task}" for task in primitives)
    if regime not in REGIMES:
        raise RequestError(f"there is no regime {regime!r}; {nearest(regime, REGIMES)}")
    return (regime,)


def training_order(suite: Suite, group: str) -> tuple[str, ...]:
    """The tasks that a group's runs are trained on, one after another.

    Raises:
        RequestError: there is no such group, or it trains on all tasks at once.
    """
    tasks, primitives, composition = suite.tasks, suite.tasks[:-1], (suite.composition,)
    known = {"sequential": tasks, "scratch": composition, "scratch-total": composition}
    known |= {f"isolated-{task}": (task,) for task in primitives}
    known |= {f"sequential-without-{task}": tuple(other for other in tasks if other != task) for task in primitives}
    known |= {f"sequential-order{m}": (*order, *composition) for m, order in enumerate(suite.orders[1:], 2)}
    if group == JOINT:
        raise RequestError(f"{JOINT}: all tasks are learnt at once, in no order")
    if group not in known:
        raise RequestError(f"there is no group of runs {group!r}; {nearest(group, (*known, JOINT))}")
    return known[group]


def run_names(suite: Suite) -> list[RunName]:
    """The runs of a study: the seeds of each group, in the suite's order."""
    return [RunName(group, seed) for group in groups(suite) for seed in suite.seeds]


def plan_run(suite: Suite, group: str) -> Plan:
    """The plan of a group's runs, the same for all seeds.

    The sequential ones train on their tasks in order; while task i trains, the tasks begun so far are evaluated, and
    all of the suite's at 0 and at each task's end. `scratch` and the isolated ones train and evaluate one task, for
    its own budget. `scratch-total` does so with the composition, and `joint` with all tasks at once, for the sequential
    run's steps in all and at the checkpoints that it has.

    Raises:
        RequestError: there is no such group.
    """
    if group in (JOINT, "scratch-total"):
        tasks = suite.tasks if group == JOINT else (suite.composition,)
        steps = [checkpoint.step for checkpoint in plan_run(suite, "sequential").checkpoints]
        zero, *later = (Checkpoint(step, tasks) for step in steps)
        return Plan(zero, (Segment(tasks, 0, steps[-1], tuple(later)),))
    order = training_order(suite, group)
    at_end = suite.tasks if group.startswith("sequential") else order
    segments: list[Segment] = []
    for place, task in enumerate(order, 1):
        begun = tuple(other for other in suite.tasks if other in order[:place])
        segments.append(_segment(suite, task, segments[-1].end if segments else 0, begun, at_end))
    return Plan(Checkpoint(0, at_end), tuple(segments))


def _segment(suite: Suite, task: str, start: int, begun: Sequence[str], at_end: Sequence[str]) -> Segment:
    budget, every = suite.budget[task], suite.evaluation.every
    offsets = {*range(every, budget, every), *(offset for offset in suite.evaluation.also if offset < budget)}
    inner = [Checkpoint(start + offset, tuple(begun)) for offset in sorted(offsets)]
    return Segment((task,), start, budget, (*inner, Checkpoint(start + budget, tuple(at_end))))

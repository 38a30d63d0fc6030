"""How long a study will take: as its runs have gone so far, or by a short measurement of learning and evaluation."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from etude.curriculum.plan import RunName, plan_run
from etude.curriculum.status import Status
from etude.curriculum.suite import Suite, read_suite

MEASURED = 0.8


@dataclass(frozen=True)
class Cost:
    """What things cost in one worker while the others work too.

    Attributes:
        step: seconds an environment step of learning, updates included.
        evaluation: seconds a control step of an evaluation's batch.
    """

    step: float
    evaluation: float

    @classmethod
    def of(cls, measurements: Iterable[Mapping[str, float]]) -> Cost:
        """The mean over the workers that measured side by side."""
        each = list(measurements)
        return cls(mean(m["step"] for m in each), mean(m["evaluation"] for m in each))

    @classmethod
    def so_far(cls, runs: Iterable[Status]) -> Cost | None:
        """What a step has cost in runs that have begun, evaluations and saves included; None if none has."""
        begun = [run for run in runs if run.step and any(run.seconds.values())]
        spent = sum(sum(run.seconds.values()) for run in begun)
        return cls(spent / sum(run.step for run in begun), 0.0) if begun else None

    def seconds(self, suite: Suite, name: RunName, done: int) -> float:
        """What is left of a run whose save is of step `done`; 0 where it has none."""
        from etude.envs import get_task

        plan = plan_run(suite, name.group)
        evaluated = [task for c in plan.checkpoints_left(done) for task in c.tasks]
        steps = plan.segments[-1].end - done
        return steps * self.step + sum(get_task(task).horizon for task in evaluated) * self.evaluation


def makespan(durations: Iterable[float], workers: int) -> float:
    """Seconds until all is done, each job given to the worker that is free first, in their order."""
    free = [0.0] * workers
    for seconds in durations:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def measure(study: Path) -> dict[str, float]:
    """The cost of a study's work in this process: a throwaway agent learns the composition for about a second.

    Args:
        study: its folder.

    Raises:
        RunError: the agent or the composition's task raised something.
    """
    from etude.curriculum.agents import make_agent
    from etude.curriculum.agents.check import rollout_size
    from etude.curriculum.evaluator import Evaluator, task_envs
    from etude.curriculum.imports import import_all
    from etude.envs import get_task
    from etude.oracles.blame import told_of

    suite = read_suite(study)
    import_all(suite.imports)
    config = suite.agent
    if config.parameters.get("learning_starts"):
        config = config.model_copy(update={"parameters": config.parameters | {"learning_starts": 0}})
    task, rollout = suite.composition, rollout_size(config)
    envs = task_envs(suite, task, config.environments)
    evaluator = Evaluator(suite)
    envs.reset(seed=0)
    with told_of(f"agent {config.algorithm}"):
        agent = make_agent(config, envs.single_observation_space, envs.single_action_space, seed=0)
        agent.begin_task(task, envs, 1_000 * rollout)
        agent.learn(rollout)
        steps, started = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - started) < MEASURED:
            agent.learn(rollout)
            steps += rollout
        started = time.perf_counter()
        evaluator.evaluate(agent, 0, [task])
        evaluation = time.perf_counter() - started
    evaluator.close()
    envs.close()
    return {"step": elapsed / steps, "evaluation": evaluation / get_task(task).horizon}

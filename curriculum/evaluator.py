"""The evaluation of an agent at a checkpoint, on episodes that are the same for every seed, regime and step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from etude.curriculum.agents.protocol import Agent, act_finitely
from etude.curriculum.observations import Envs, PartIdentity, TaskIdentity
from etude.curriculum.records import Evaluation
from etude.curriculum.suite import Suite
from etude.envs import get_task, make_vector
from etude.oracles import evaluation_seeds, rollout


class Evaluator:
    """Plays a suite's evaluation episodes, each task in a batch of its own, kept from one checkpoint to the next.

    Nothing of an evaluation remains: not in the agent, which acts without a trace, nor in the process's random
    generators. What is learnt is the same bits with evaluation, without, or at another interval.
    """

    def __init__(self, suite: Suite) -> None:
        """Evaluate on the tasks of `suite`; environments are made when they are first needed."""
        self._suite = suite
        self._envs: dict[str, Envs] = {}

    def evaluate(self, agent: Agent, step: int, tasks: Iterable[str]) -> list[Evaluation]:
        """Play every episode of `tasks`.

        Args:
            agent: acts deterministically.
            step: environment steps since the run's start.
            tasks: ids.

        Raises:
            Diverged: the agent's actions are not finite numbers.
        """
        from etude.curriculum.agents.generators import untouched_generators

        with untouched_generators():
            return [self._evaluate(agent, step, task) for task in tasks]

    def close(self) -> None:
        """Give the environments back."""
        for envs in self._envs.values():
            envs.close()
        self._envs = {}

    def _evaluate(self, agent: Agent, step: int, task: str) -> Evaluation:
        seeds = evaluation_seeds(task, self._suite.evaluation.episodes)
        if task not in self._envs:
            self._envs[task] = task_envs(self._suite, task, len(seeds))
        episodes = rollout(self._envs[task], lambda observations: act_finitely(agent, observations), seeds)
        return Evaluation(
            step,
            task,
            tuple(episodes.returns.tolist()),
            tuple(episodes.successes.tolist()),
            tuple(episodes.lengths.tolist()),
        )


def task_envs(suite: Suite, task: str, number: int, **options: Any) -> Envs:
    """Environments of a task as the suite's agents see it, SAME_STEP unless the options of `make_vector` say else."""
    envs = make_vector(task, number, **options)
    if suite.task_id == "hidden":
        return envs
    place, parts = suite.tasks.index(task), get_task(task).parts
    if suite.task_id == "part" and parts:
        places = [suite.tasks.index(part) if part in suite.tasks else place for part in parts]
        return PartIdentity(envs, places, len(suite.tasks))
    return TaskIdentity(envs, place, len(suite.tasks))

"""What stored policies do when they go on: learn an old task again for a while, or feel where each task pulls them."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np

from etude.curriculum.metrics.policies.behaviour import cosines
from etude.curriculum.metrics.policies.stored import Arrays, Policies
from etude.envs import stream_seed

SHARE = 0.1
"""Of a task's budget, that a retraining takes."""
GRADIENT_STEPS = 4_096
"""Environment steps that a policy plays in a task to find the direction in which the task pulls it."""


def retrained(policies: Policies, seed: int, task: str) -> Arrays:
    """The last policy after it has learnt a task again, for a tenth of the task's budget.

    A new agent takes over its weights; optimisers, replay buffer and what else learning has collected begin anew, and
    the method that the run was trained with does not take part.

    Returns:
        `returns` and `successes`, (), means over the task's evaluation episodes; `steps` that it learnt.
    """
    depends = {
        "policy": policies.digest(seed, len(policies.tasks)),
        "seed": seed,
        "task": policies.fingerprint(task, policies.episodes),
        "budget": policies.suite.budget[task],
        "share": SHARE,
    }
    told = f"sequential-seed{seed} learns {task} again"
    return policies.kept("retrained", depends, lambda: _retrain(policies, seed, task), told)


def pulls(policies: Policies, seed: int, k: int) -> Arrays:
    """The directions in which the tasks would move policy k.

    Returns:
        `cosines` (N, N) of the angles between every two of them.
    """
    depends = {
        "policy": policies.digest(seed, k),
        "seed": seed,
        "tasks": [policies.fingerprint(task, policies.episodes) for task in policies.tasks],
        "steps": GRADIENT_STEPS,
    }
    told = f"gradients of sequential-seed{seed}, {policies.names[k]}"
    return policies.kept("pulls", depends, lambda: _pull(policies, seed, k), told)


def _retrain(policies: Policies, seed: int, task: str) -> Arrays:
    from etude.curriculum.agents.check import rollout_size
    from etude.curriculum.evaluator import Evaluator, task_envs

    suite, rollout = policies.suite, rollout_size(policies.suite.agent)
    steps = rollout * max(1, round(SHARE * suite.budget[task] / rollout))
    agent = policies.agent(seed, len(policies.tasks), draws=stream_seed(seed, "retrained", task))
    with closing(task_envs(suite, task, suite.agent.environments)) as envs:
        starts: Any = [stream_seed(seed, "retrained", task, i) for i in range(envs.num_envs)]
        envs.reset(seed=starts)
        agent.begin_task(task, envs, steps)
        agent.learn(steps)
        agent.end_task(task)
    with closing(Evaluator(suite)) as evaluator:
        (evaluation,) = evaluator.evaluate(agent, steps, [task])
    return {
        "returns": np.array(np.mean(evaluation.returns)),
        "successes": np.array(np.mean(evaluation.successes)),
        "steps": np.array(steps),
    }


def _pull(policies: Policies, seed: int, k: int) -> Arrays:
    from etude.curriculum.evaluator import task_envs

    suite, directions = policies.suite, []
    for task in suite.tasks:
        agent = policies.agent(seed, k, "policy_gradient", draws=stream_seed(seed, "gradient", task))
        with closing(task_envs(suite, task, suite.agent.environments)) as envs:
            starts: Any = [stream_seed(seed, "gradient", task, i) for i in range(envs.num_envs)]
            envs.reset(seed=starts)
            directions.append(np.asarray(agent.policy_gradient(envs, GRADIENT_STEPS)))
    return {"cosines": cosines(np.stack(directions))}

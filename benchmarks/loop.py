"""Where the time of a suite's training goes: physics, gradient steps, and everything else by name.

python benchmarks/loop.py [suite, quick if not given] [rollouts of each task, 20 if not given]

Each task of the suite is learnt for some rollouts, in its order, by its agent under its method, in CPU seconds. What
one part calls of another counts as the other's. Evaluation and saves are not in it: `shares.py` has them, of a study.
"""

import functools
import sys
import time
from collections import defaultdict
from typing import Any

import mujoco.batch
import torch

from etude.curriculum.agents import make_agent
from etude.curriculum.agents.check import rollout_size
from etude.curriculum.agents.vecenv import SB3Envs
from etude.curriculum.evaluator import task_envs
from etude.curriculum.methods import attach, get_method
from etude.curriculum.suite import load_suite
from etude.envs.vector import TabletopVectorEnv

PARTS = (
    "physics",
    "the environment's starts",
    "the environment's rewards, observations and checks",
    "which task it is, told to the agent",
    "what Stable-Baselines3 wants of an environment",
    "the policy as it acts",
    "the rest of a rollout",
    "gradient steps",
    "the method",
)


class Clock:
    """CPU seconds of named parts; those of a part that another one calls are not the other's."""

    def __init__(self) -> None:
        """Nothing has been measured."""
        self.spent: dict[str, float] = defaultdict(float)
        self._open: list[str] = []
        self._since = time.process_time()

    def watch(self, owner: Any, name: str, part: str) -> None:
        """Count what the method of a class or an object takes from now on as a part's."""
        inner = getattr(owner, name)

        @functools.wraps(inner)
        def timed(*arguments: Any, **named: Any) -> Any:
            self._turn()
            self._open.append(part)
            try:
                return inner(*arguments, **named)
            finally:
                self._turn()
                self._open.pop()

        setattr(owner, name, timed)

    def _turn(self) -> None:
        now = time.process_time()
        if self._open:
            self.spent[self._open[-1]] += now - self._since
        self._since = now


def main() -> None:
    suite, rounds = load_suite(sys.argv[1] if sys.argv[1:] else "quick", []), int((sys.argv[2:] or ["20"])[0])
    torch.set_num_threads(1)
    clock, rollout = Clock(), rollout_size(suite.agent)
    for name in ("step", "forward"):
        clock.watch(mujoco.batch.Batch, name, "physics")
    clock.watch(TabletopVectorEnv, "_begin", "the environment's starts")
    clock.watch(TabletopVectorEnv, "step", "the environment's rewards, observations and checks")
    clock.watch(SB3Envs, "step_wait", "what Stable-Baselines3 wants of an environment")
    agent, method = None, get_method(suite.method)()
    for task in suite.tasks:
        envs = task_envs(suite, task, suite.agent.environments)
        if envs.unwrapped is not envs:
            clock.watch(envs, "step", "which task it is, told to the agent")
        envs.reset(seed=0)
        if agent is None:
            agent = make_agent(suite.agent, envs.single_observation_space, envs.single_action_space, seed=0)
            model: Any = agent._model  # type: ignore[attr-defined]
            clock.watch(model, "collect_rollouts", "the rest of a rollout")
            clock.watch(model, "train", "gradient steps")
            clock.watch(model.policy, "forward", "the policy as it acts")
            clock.watch(method, "adjust_gradients", "the method")
            attach(method, agent)
        agent.begin_task(task, envs, 1_000 * rollout)
        method.on_task_start(task, agent)
        agent.learn(rounds * rollout)
        method.on_task_end(task, agent)
        agent.end_task(task)
        envs.close()
    whole = sum(clock.spent.values())
    steps = rounds * rollout * len(suite.tasks)
    print(f"{suite.name}: {steps:,} steps, {steps / whole:,.0f} a CPU second")
    for part in PARTS:
        print(f"{clock.spent[part] / whole:6.1%}  {part}")


if __name__ == "__main__":
    main()

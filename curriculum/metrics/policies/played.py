"""Policies at play on episodes of their own: what they earned, whose actions they took, what they had expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.policies.behaviour import nearest_shares
from etude.curriculum.metrics.policies.stored import Arrays, Policies
from etude.oracles import evaluation_seeds, get_oracle

SET = "validation"
"""The episodes' set: it shares none with the evaluation's."""


def played(policies: Policies, seed: int, k: int) -> Arrays:
    """What policy k did in validation episodes of every task, as many as the evaluation has.

    Returns:
        `returns`, `successes`, `lengths` (N, E); `discounted` (N, E) discounted returns; `first` and `last` (N, E) the
        critic's values of the first observation and of the one after the last step, 0 where the task ended the
        episode; `discount`; and `shares` (N, N), the share of task i's steps whose action lies nearest that of task
        j's oracle, nan where that oracle cannot act there. `discounted`, `first` and `last` are nan of an agent that
        has no `value` or no `discount`.
    """
    depends = {"policy": policies.digest(seed, k), "episodes": fingerprints(policies)}
    told = f"validation episodes of sequential-seed{seed}, {policies.names[k]}"
    return policies.kept("played", depends, lambda: _play_all(policies, seed, k), told)


def validation_anchors(policies: Policies, task: str) -> tuple[float, float]:
    """A task's floor and its oracle's mean return on the validation episodes."""
    from etude.oracles import ceiling, floor, measure_references
    from etude.oracles.scores import score

    def measure() -> Arrays:
        reference = measure_references(task, policies.episodes, evaluation_seeds(task, policies.episodes, SET))
        score((), reference)
        return {"floor": np.array(floor(reference)), "oracle": np.array(ceiling(reference))}

    depends = {"fingerprint": policies.fingerprint(task, policies.episodes), "set": SET}
    anchors = policies.kept("references", depends, measure, f"references of {task} on validation episodes")
    return float(anchors["floor"]), float(anchors["oracle"])


def fingerprints(policies: Policies) -> list[dict[str, Any]]:
    """What the episodes of the suite's tasks depend on."""
    return [policies.fingerprint(task, policies.episodes) for task in policies.tasks]


def _play_all(policies: Policies, seed: int, k: int) -> Arrays:
    from etude.curriculum.evaluator import task_envs

    agent = policies.agent(seed, k)
    tasks = []
    for index, task in enumerate(policies.tasks):
        seeds = evaluation_seeds(task, policies.episodes, SET)
        with closing(task_envs(policies.suite, task, len(seeds))) as envs:
            tasks.append(play(agent, envs, seeds, policies.tasks, index))
    stacked = {name: np.stack([task[name] for task in tasks]) for name in tasks[0]}
    return stacked | {"discount": np.array(_discount(agent))}


def play(agent: Any, envs: Any, seeds: list[int], tasks: tuple[str, ...], own: int) -> Arrays:
    """One episode of each simulation; what a row does after its first episode is left out.

    Args:
        agent: acts, and tells values where it can.
        envs: E simulations of task `own`.
        seeds: (E,) of the episodes.
        tasks: N ids, whose oracles are asked what they would do.
        own: which of them is played.

    Returns:
        As `played`, without the tasks' axis.

    Raises:
        RunError: the agent's actions are not finite numbers.
    """
    from etude.curriculum.agents.protocol import act_finitely

    value, gamma = _values(agent), _discount(agent)
    advisers = _Advisers(tasks, own, len(seeds))
    observations, _ = envs.reset(seed=seeds)
    first, last = value(observations), np.full(len(seeds), np.nan)
    running, left = np.ones(len(seeds), np.bool_), 1.0
    returns, discounted, lengths = np.zeros(len(seeds)), np.zeros(len(seeds)), np.zeros(len(seeds), np.int64)
    successes = np.zeros(len(seeds), np.bool_)
    low, high = envs.action_space.low, envs.action_space.high
    acted, advised = [], []
    while running.any():
        actions = act_finitely(agent, observations)
        advised.append(np.clip(advisers.act(envs.unwrapped.privileged_state()), low, high)[:, running])
        acted.append(np.clip(actions, low, high)[running])
        observations, rewards, terminated, truncated, info = envs.step(actions)
        returns[running] += rewards[running]
        discounted[running] += left * rewards[running]
        left *= gamma
        lengths[running] += 1
        ended = running & (terminated | truncated)
        if ended.any():
            reached = observations.copy()
            for row in np.flatnonzero(ended):
                reached[row] = info["final_obs"][row]
            last[ended] = np.where(terminated, 0.0, value(reached))[ended]
            final = info.get("final_info", info)
            successes[ended] = np.asarray(final.get("success", np.zeros(len(seeds))), np.bool_)[ended]
            running &= ~ended
    return {
        "returns": returns,
        "successes": successes,
        "lengths": lengths,
        "discounted": discounted,
        "first": first,
        "last": last,
        "shares": nearest_shares(np.concatenate(acted), np.concatenate(advised, axis=1), own),
    }


class _Advisers:
    """The oracles of several tasks, asked what they would do in one task's simulations."""

    def __init__(self, tasks: tuple[str, ...], own: int, size: int) -> None:
        self._oracles = [get_oracle(task)(size) for task in tasks]
        self._own, self._size = own, size
        self._unable: set[int] = set()
        for oracle in self._oracles:
            oracle.reset(np.arange(size))

    def act(self, privileged: Mapping[str, NDArray[Any]]) -> FloatArray:
        """Everyone's actions, (N, E, A); nan from the first time on that one could not read another task's state."""
        own = np.asarray(self._oracles[self._own].act(dict(privileged)), np.float64)
        actions = np.full((len(self._oracles), *own.shape), np.nan)
        actions[self._own] = own
        for index, oracle in enumerate(self._oracles):
            if index == self._own or index in self._unable:
                continue
            try:
                actions[index] = oracle.act(dict(privileged))
            except Exception:  # It was written for its own task: how it fails in another is anyone's guess.
                self._unable.add(index)
        return actions


def _values(agent: Any) -> Callable[[Any], NDArray[Any]]:
    if hasattr(agent, "value"):
        return lambda observations: np.asarray(agent.value(observations), np.float64)
    return lambda observations: np.full(len(observations), np.nan)


def _discount(agent: Any) -> float:
    return float(agent.discount()) if hasattr(agent, "discount") else float("nan")

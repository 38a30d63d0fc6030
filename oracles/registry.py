"""Which oracle solves which task, and which scripted policy of its own a task is failed by."""

from __future__ import annotations

import inspect

from etude.envs import RequestError, get_task, task_ids
from etude.oracles.oracle import Oracle

_classes: dict[str, type[Oracle]] = {}
_floors: dict[str, type[Oracle]] = {}


def register_oracle(oracle_class: type[Oracle]) -> None:
    """Make an oracle known as that of its task.

    Raises:
        RequestError: the task has one already, or it is no class derived from Oracle, or not a whole one.
    """
    _take(_classes, oracle_class, "an oracle")


def get_oracle(task_id: str) -> type[Oracle]:
    """The oracle of a task; called with a number of simulations, it is the policy of so many.

    Raises:
        RequestError: there is no such task, or it has no oracle.
    """
    if get_task(task_id).id not in _classes:
        known = task_ids()
        stray = [
            f"; {own.__qualname__} is for {task!r}, no task" for task, own in _classes.items() if task not in known
        ]
        told = "has no oracle; register one with etude.oracles.register_oracle"
        raise RequestError(f"task {task_id!r}: {told}{''.join(stray)}")
    return _classes[task_id]


def register_floor(policy_class: type[Oracle]) -> None:
    """Make a policy known as its task's own way of failing, beside random actions and the zero action.

    Where neither of those is the least that one could do, as where standing still already earns a good deal, this is.

    Raises:
        RequestError: the task has one already, or it is no class derived from Oracle, or not a whole one.
    """
    _take(_floors, policy_class, "a floor")


def get_floor(task_id: str) -> type[Oracle] | None:
    """A task's own failing policy, or None where it brings none."""
    return _floors.get(task_id)


def _take(known: dict[str, type[Oracle]], policy_class: type[Oracle], what: str) -> None:
    if not (inspect.isclass(policy_class) and issubclass(policy_class, Oracle)):
        raise RequestError(f"{policy_class!r:.60} is not {what}; register a class derived from etude.Oracle")
    lacking = [name for name in ("task",) if not hasattr(policy_class, name)]
    lacking += sorted(getattr(policy_class, "__abstractmethods__", ()))
    if lacking:
        raise RequestError(f"{policy_class.__qualname__}, {what}: has no {', '.join(lacking)}")
    task_id = policy_class.task
    if task_id in known:
        raise RequestError(f"task {task_id!r}: has {what} already, {known[task_id].__qualname__}")
    known[task_id] = policy_class

"""What an oracle is: a scripted policy that reads the privileged state; its mean return is a score of 100."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from etude.envs import RequestError, get_task

Privileged = dict[str, NDArray[Any]]
Ids = NDArray[np.intp]


class Oracle(ABC):
    """A scripted policy for the N simulations of one task, acting through the public action space alone.

    Attributes:
        task: the id of the task it solves.
        size: N.
    """

    task: ClassVar[str]

    def __init__(self, size: int) -> None:
        """Make the policy of `size` simulations; `reset` starts their episodes."""
        self.size = size

    def reset(self, ids: Ids) -> None:  # noqa: B027
        """Forget what it remembers of the simulations `ids`, which start an episode."""

    @abstractmethod
    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        """The next actions, (N, A).

        Args:
            privileged: the environment's privileged state, every array (N, ...).
        """

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether its task can be begun now, (N,): a sequence of oracles goes back to the part before until it can."""
        return np.ones(self.size, np.bool_)

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether its task is solved now, (N,): a sequence of oracles goes on to the next part."""
        return np.zeros(self.size, np.bool_)

    @classmethod
    def sources(cls) -> tuple[Path, ...]:
        """The files whose change changes the oracle."""
        return tuple(Path(inspect.getfile(c)) for c in cls.__mro__ if issubclass(c, Oracle))


_classes: dict[str, type[Oracle]] = {}


def register_oracle(oracle_class: type[Oracle]) -> None:
    """Make an oracle known as that of its task.

    Raises:
        RequestError: the task has one already.
    """
    task_id = oracle_class.task
    if task_id in _classes:
        raise RequestError(f"task {task_id}: has an oracle already, {_classes[task_id].__qualname__}")
    _classes[task_id] = oracle_class


def get_oracle(task_id: str) -> type[Oracle]:
    """The oracle of a task.

    Raises:
        RequestError: there is no such task, or it has no oracle.
    """
    if get_task(task_id).id not in _classes:
        raise RequestError(f"task {task_id}: has no oracle; register one with register_oracle")
    return _classes[task_id]

"""What an oracle is: a scripted policy that reads the privileged state; its mean return is a score of 100."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from etude.envs.registry import file_of

Privileged = dict[str, NDArray[Any]]
Ids = NDArray[np.intp]


class Oracle(ABC):
    """A scripted policy for the N simulations of one task, acting through the public action space alone.

    It is a phase machine whose phases are read off the measured state, so that it finds its way back by itself; only
    what cannot be measured is remembered. Each row's actions depend on that row alone.

    Attributes:
        task: the id of the task it solves.
        size: N.
    """

    task: ClassVar[str]

    def __init__(self, size: int) -> None:
        """Make the policy of `size` simulations; `reset` starts their episodes."""
        self.size = size

    def reset(self, ids: Ids) -> None:  # noqa: B027
        """Forget what it remembers of the simulations `ids`, (M,), which start an episode."""

    @abstractmethod
    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        """The next actions, (N, A).

        Args:
            privileged: the environment's privileged state, every array (N, ...).
        """

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether its task can be begun now, (N,): where not, a sequence of oracles goes back to the part before."""
        return np.ones(self.size, np.bool_)

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether its task is solved now, (N,): where so, a sequence of oracles goes on to the next part."""
        return np.zeros(self.size, np.bool_)

    @classmethod
    def sources(cls) -> tuple[Path, ...]:
        """The files that define it; what they import is found from there."""
        return tuple(path for c in cls.__mro__ if issubclass(c, Oracle) for path in file_of(c))

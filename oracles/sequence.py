"""A composition's oracle: its parts' oracles, one after another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from etude.envs import get_task
from etude.oracles.oracle import Ids, Oracle, Privileged
from etude.oracles.registry import get_oracle


class SequenceOracle(Oracle):
    """The oracles of its task's parts in order: on where one is done, back where the next is not ready.

    Attributes:
        players: the parts' oracles.
        stage: (N,) which of them acts.
    """

    def __init__(self, size: int) -> None:
        """Make the parts' oracles for `size` simulations each."""
        super().__init__(size)
        self.players = [oracle(size) for oracle in self._parts()]
        self.stage = np.zeros(size, np.intp)

    def reset(self, ids: Ids) -> None:
        """Begin with the first part."""
        self.stage[ids] = 0
        for player in self.players:
            player.reset(ids)

    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        """Each row's action is that of the part it has come to."""
        self.move(privileged)
        actions = np.stack([player.act(privileged) for player in self.players])
        return actions[self.stage, np.arange(self.size)]

    def move(self, privileged: Privileged) -> None:
        """Each row on to the next part where its part is done, back to the one before where its part is not ready."""
        for k in range(1, len(self.players)):
            before, after = self.players[k - 1], self.players[k]
            ready = after.ready(privileged)
            self.enter(k - 1, (self.stage == k) & ~ready)
            self.enter(k, (self.stage == k - 1) & before.done(privileged) & ready)

    def enter(self, stage: int, rows: NDArray[np.bool_]) -> None:
        """Let a part begin in those of the rows, (N,)."""
        ids = np.flatnonzero(rows)
        self.stage[ids] = stage
        self.players[stage].reset(ids)

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the first part can be begun."""
        return self.players[0].ready(privileged)

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the last part has been reached, and is done."""
        last: NDArray[np.bool_] = self.stage == len(self.players) - 1
        return last & self.players[-1].done(privileged)

    @classmethod
    def sources(cls) -> tuple[Path, ...]:
        """Its own files, and its parts'."""
        parts = [path for oracle in cls._parts() for path in oracle.sources()]
        return tuple(dict.fromkeys([*super().sources(), *parts]))

    @classmethod
    def _parts(cls) -> list[type[Oracle]]:
        return [get_oracle(part) for part in get_task(cls.task).parts]

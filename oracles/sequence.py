"""A composition's oracle: its parts' oracles, one after another."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from etude.oracles.oracle import Ids, Oracle, Privileged


class SequenceOracle(Oracle):
    """Plays its parts in order: on when one is done, back when the next is not ready for its own.

    Attributes:
        parts: the parts' oracles, in order.
    """

    parts: ClassVar[tuple[type[Oracle], ...]]

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._players = [part(size) for part in self.parts]
        self.stage = np.zeros(size, np.intp)

    def reset(self, ids: Ids) -> None:
        self.stage[ids] = 0
        for player in self._players:
            player.reset(ids)

    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        for k, player in enumerate(self._players):
            here = self.stage == k
            if k:
                back = here & ~player.ready(privileged)
                self._enter(k - 1, back)
                here &= ~back
            if k + 1 < len(self._players):
                self._enter(k + 1, here & player.done(privileged) & self._players[k + 1].ready(privileged))
        actions = np.stack([player.act(privileged) for player in self._players])
        return actions[self.stage, np.arange(self.size)]

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        return (self.stage == len(self.parts) - 1) & self._players[-1].done(privileged)

    def _enter(self, stage: int, mask: NDArray[np.bool_]) -> None:
        ids = np.flatnonzero(mask)
        self.stage[ids] = stage
        self._players[stage].reset(ids)

    @classmethod
    def sources(cls) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(path for part in (super(), *cls.parts) for path in part.sources()))

"""A tabletop composition's oracle: its parts' oracles, each in its own stage."""

from __future__ import annotations

import numpy as np

from etude.envs.tabletop.composition import STAGE
from etude.oracles.oracle import Privileged
from etude.oracles.sequence import SequenceOracle


class CompositionOracle(SequenceOracle):
    """Plays the part whose stage the task is in, since the goal is that stage's."""

    def move(self, privileged: Privileged) -> None:
        """Each row to the task's stage."""
        stage = privileged["latch"][:, STAGE].astype(np.intp)
        for k in range(len(self.players)):
            self.enter(k, (stage == k) & (self.stage != k))

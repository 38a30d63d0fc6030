"""A tabletop composition's oracle: its parts' oracles, each in its own stage."""

from __future__ import annotations

import numpy as np

from etude.envs.registry import task_class
from etude.envs.tabletop.composition import STAGE, Composition
from etude.oracles.oracle import Oracle, Privileged
from etude.oracles.registry import get_oracle
from etude.oracles.sequence import SequenceOracle


class CompositionOracle(SequenceOracle):
    """Plays the part whose stage the task is in, since the goal is that stage's."""

    def move(self, privileged: Privileged) -> None:
        """Each row to the task's stage."""
        stage = privileged["latch"][:, STAGE].astype(np.intp)
        for k in range(len(self.players)):
            self.enter(k, (stage == k) & (self.stage != k))

    @classmethod
    def _parts(cls) -> list[type[Oracle]]:
        """One a stage: a primitive may be more than one of them."""
        task = task_class(cls.task)
        assert issubclass(task, Composition)
        return [get_oracle(stage.id) for stage in task.stages]

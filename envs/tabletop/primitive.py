"""What a primitive is: a task that can be one stage of a composition."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from etude.envs.task import Task

if TYPE_CHECKING:
    from etude.envs.tabletop.scene import Scene

UNSOLVED = 0.25


class Primitive(Task):
    """A task of one idea. By itself it pays UNSOLVED of its progress a step, and 1 while it is solved."""

    @abstractmethod
    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal of the simulations `ids` where this task wants the finger tips, or the object."""

    @abstractmethod
    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """How near it is to being solved, (N,) in [0, 1]. Pure."""

    def ready(self, scene: Scene) -> NDArray[np.bool_]:
        """Whether it can be begun or gone on with, (N,): where not, a composition falls back to the stage before."""
        return np.ones(scene.size, np.bool_)

    def reward(self, scene: Scene) -> NDArray[np.float64]:
        """A share of the progress, and 1 while the task is solved."""
        return np.where(self.success(scene), 1.0, UNSOLVED * self.progress(scene))

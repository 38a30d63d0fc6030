"""What a primitive is: a task that can be one stage of a composition."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import TABLE_WORDS, arrange, with_more
from etude.envs.task import Task

UNSOLVED = 0.25


class Primitive(Task):
    """A task of one idea. By itself it pays UNSOLVED of its progress a step, and 1 while it is solved.

    It starts at the common starts, unless it overrides `reset`.
    """

    starts = TABLE_WORDS

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Its starts are in words what `furnish` says, and those that it has already, unless it says them itself."""
        super().__init_subclass__(**kwargs)
        if "furnish" in cls.__dict__ and "starts" not in cls.__dict__:
            cls.starts = with_more(cls.starts, cls.furnish)

    def furnish(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """Place the furniture that it brings, here and in every composition that it is a part of.

        Args:
            scene: the scene, all else in its common start.
            ids: (M,) simulations whose episode begins.
            rngs: (M,) their own generators.
        """

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts, its furniture placed and its goal marked."""
        arrange(scene, ids, rngs)
        scene.catch_up(ids)
        self.furnish(scene, ids, rngs)
        scene.catch_up(ids)
        self.mark(scene, ids)

    @abstractmethod
    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal of the simulations `ids` where this task wants the finger tips, or the object.

        When an episode begins, sites and other derived words are current in tasks with furniture of their own alone.
        """

    @abstractmethod
    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """How near it is to being solved, (N,) in [0, 1]. Pure."""

    def ready(self, scene: Scene) -> NDArray[np.bool_]:
        """Whether it can be begun or gone on with, (N,): where not, a composition falls back to the stage before."""
        return scene.everywhere

    def reward(self, scene: Scene) -> NDArray[np.float64]:
        """A share of the progress, and 1 while the task is solved."""
        return np.where(self.solved(scene), 1.0, UNSOLVED * self.progress(scene))

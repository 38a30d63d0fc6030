"""What a task is: a start, a reward and a success test over the words of the scene."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from etude.envs.tabletop.scene import Scene


class Task(ABC):
    """One task on the tabletop; the first line of a subclass's docstring describes it to users.

    A task holds no state of its own: what changes in an episode lives in the scene.

    Attributes:
        id: lower-case words joined by hyphens; names folders, records and charts.
        version: raised whenever returns of before and after no longer compare.
        kind: whether it is practised or performed.
        parts: of a composition, the ids of its primitives in the order they are needed.
        horizon: control steps of an episode.
        starts: what varies from episode to episode, in words with their ranges.
        cubes: 1, or 2 where the scene holds a base to stack the cube on.
        furniture: sections of MJCF (worldbody, asset, equality and the like) that the scene gets as well; its bodies,
            joints and sites have names, by which the scene knows them.
        shows_goal: whether pictures show the goal, where nothing else on the table stands for it.
    """

    id: ClassVar[str]
    version: ClassVar[int] = 0
    kind: ClassVar[Literal["primitive", "composition"]] = "primitive"
    parts: ClassVar[tuple[str, ...]] = ()
    horizon: ClassVar[int]
    starts: ClassVar[str]
    shows_goal: ClassVar[bool] = False
    cubes: ClassVar[int] = 1
    furniture: ClassVar[str] = ""

    @abstractmethod
    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """Write the start and the goal of the simulations `ids`, which stand at home.

        Args:
            scene: the scene; its derived words become current after this returns.
            ids: (M,) simulations whose episode begins.
            rngs: (M,) their own generators, in the same order; draw from nothing else.
        """

    def advance(self, scene: Scene, ids: NDArray[np.intp]) -> None:  # noqa: B027
        """Move latches and locks on in the simulations `ids`, once a control step, before the reward."""

    def privileged(self, scene: Scene) -> dict[str, NDArray[Any]]:
        """What oracles may read of the task's own furniture, by words of its own, each (N, ...)."""
        return {}

    def solved(self, scene: Scene) -> NDArray[np.bool_]:
        """What `success` gives, (N,), asked once while the scene is at rest: for rewards."""
        known = scene.resting
        if known is None:
            return self.success(scene)
        if self not in known:
            known[self] = self.success(scene)
        solved: NDArray[np.bool_] = known[self]
        return solved

    def part(self, scene: Scene) -> NDArray[np.intp]:
        """Which of `parts` is asked for now, (N,), as indices; of a primitive, which has none, 0. Pure."""
        return np.zeros(scene.size, np.intp)

    @abstractmethod
    def reward(self, scene: Scene) -> NDArray[np.float64]:
        """The step's reward, (N,), in [0, 1] and 1 only while the task is solved. Pure."""

    @abstractmethod
    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """Whether the task is solved now, (N,). Pure."""

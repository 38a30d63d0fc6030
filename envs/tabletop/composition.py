"""What a composition is: primitives as stages, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import staged
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import arrange
from etude.envs.task import Task

STAGE = 0
ALMOST = 1 - 1e-9


class Composition(Task):
    """Primitives in order: on where one is solved, back where the next cannot be gone on with.

    A subclass names its stages, its horizon and its starts; it overrides `prepare` where the start is not the common
    one, and `enter` where a stage changes the scene.

    Attributes:
        stages: the primitives, in order; a subclass of a primitive may place its goal elsewhere, under the same id.
    """

    kind: ClassVar[Literal["primitive", "composition"]] = "composition"
    stages: ClassVar[tuple[Primitive, ...]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Its parts are its stages' ids, and the scene holds what any of them needs."""
        super().__init_subclass__(**kwargs)
        if "stages" in cls.__dict__:
            cls.parts = tuple(dict.fromkeys(stage.id for stage in cls.stages))
            cls.cubes = max(stage.cubes for stage in cls.stages)
            cls.furniture = "".join(dict.fromkeys(stage.furniture for stage in cls.stages))

    def prepare(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """Change the common starts of the simulations `ids` into those of this task."""

    def enter(self, scene: Scene, ids: NDArray[np.intp], stage: int) -> None:
        """Let a stage begin in the simulations `ids`: the goal moves on."""
        self.stages[stage].mark(scene, ids)

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts and what `prepare` makes of them; the goal is the first stage's."""
        arrange(scene, ids, rngs)
        self.prepare(scene, ids, rngs)
        self.enter(scene, ids, 0)

    def advance(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Move the stages on by one, or back as far as must be, and the goal with them."""
        before = self.stage(scene)[ids]
        stage = before.copy()
        ready = [part.ready(scene)[ids] for part in self.stages]
        for k in range(len(self.stages) - 1, 0, -1):
            stage[(stage == k) & ~ready[k]] = k - 1
        for k in range(len(self.stages) - 2, -1, -1):
            if (stage == k).any():
                stage[(stage == k) & self.stages[k].success(scene)[ids] & ready[k + 1]] = k + 1
        scene.latch[ids, STAGE] = stage
        for k, part in enumerate(self.stages):
            self.enter(scene, ids[(stage == k) & (before != k)], k)
            part.advance(scene, ids[stage == k])

    def privileged(self, scene: Scene) -> dict[str, NDArray[Any]]:
        """What the stages' oracles read."""
        return {word: value for part in self.stages for word, value in part.privileged(scene).items()}

    def stage(self, scene: Scene) -> NDArray[np.intp]:
        """How many stages are done, (N,)."""
        return scene.latch[:, STAGE].astype(np.intp)

    def reward(self, scene: Scene) -> NDArray[np.float64]:
        """Staged: a share for every stage done, and the present one's progress."""
        shaped = staged(scene, scene.latch[:, STAGE], [partial(_unsolved, part) for part in self.stages])
        return np.where(self.success(scene), 1.0, shaped)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The last stage has been reached, can still be gone on with, and is solved."""
        last = self.stages[-1]
        reached = self.stage(scene) == len(self.stages) - 1
        held: NDArray[np.bool_] = reached & last.ready(scene) & last.success(scene)
        return held


def _unsolved(part: Primitive, scene: Scene) -> NDArray[np.float64]:
    return np.minimum(part.progress(scene), ALMOST)

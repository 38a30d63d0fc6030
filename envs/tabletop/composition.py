"""What a composition is: primitives as stages, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import staged
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import arrange
from etude.envs.task import Task

STAGE = 0


def furnishing(stages: Sequence[Primitive]) -> list[Primitive]:
    """Those of the primitives that place furniture of their own, the same of it once."""
    placing = {type(stage).furnish: stage for stage in stages}
    placing.pop(Primitive.furnish, None)
    return list(placing.values())


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
        """The common starts, the parts' furniture placed, and what `prepare` makes of them; the first stage's goal."""
        arrange(scene, ids, rngs)
        for stage in furnishing(self.stages):
            scene.catch_up(ids)
            stage.furnish(scene, ids, rngs)
        scene.catch_up(ids)
        self.prepare(scene, ids, rngs)
        scene.catch_up(ids)
        self.enter(scene, ids, 0)

    def advance(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Move the stages on by one, or back as far as must be, and the goal with them."""
        before = scene.latch[:, STAGE].take(ids)
        stage = before.copy()
        present = set(stage.tolist())
        for k in range(len(self.stages) - 1, 0, -1):
            if k in present:
                lost = (stage == k) & ~self.stages[k].ready(scene)[ids]
                if np.count_nonzero(lost):
                    stage[lost] = k - 1
                    present.add(k - 1)
        for k in range(len(self.stages) - 2, -1, -1):
            if k in present:
                solved = (stage == k) & self.stages[k].success(scene)[ids]
                if np.count_nonzero(solved):
                    stage[solved & self.stages[k + 1].ready(scene)[ids]] = k + 1
                    present.add(k + 1)
        moved = stage != before
        moving = np.count_nonzero(moved)
        if moving:
            scene.latch[ids, STAGE] = stage
        for k in sorted(present):
            here = stage == k
            if moving and np.count_nonzero(entered := here & moved):
                self.enter(scene, ids[entered], int(k))
            self.stages[int(k)].advance(scene, ids[here])

    def privileged(self, scene: Scene) -> dict[str, NDArray[Any]]:
        """What the stages' oracles read."""
        return {word: value for part in self.stages for word, value in part.privileged(scene).items()}

    def stage(self, scene: Scene) -> NDArray[np.intp]:
        """How many stages are done, (N,)."""
        return scene.latch[:, STAGE].astype(np.intp)

    def part(self, scene: Scene) -> NDArray[np.intp]:
        """The part whose turn it is: the present stage's."""
        places = np.array([self.parts.index(stage.id) for stage in self.stages], np.intp)
        asked: NDArray[np.intp] = places[self.stage(scene)]
        return asked

    def reward(self, scene: Scene) -> NDArray[np.float64]:
        """Staged: a share for every stage done, and the present one's progress."""
        shaped = staged(scene, scene.latch[:, STAGE], [part.progress for part in self.stages])
        return np.where(self.solved(scene), 1.0, shaped)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The last stage has been reached, can still be gone on with, and is solved."""
        last = self.stages[-1]
        reached: NDArray[np.bool_] = scene.latch[:, STAGE] == len(self.stages) - 1
        if not np.count_nonzero(reached):
            return reached
        held: NDArray[np.bool_] = reached & last.ready(scene) & last.success(scene)
        return held

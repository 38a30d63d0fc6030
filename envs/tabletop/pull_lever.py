"""pull-lever: the lever as far as its mark, and hold it there."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import Floats, Scene, share
from etude.envs.tabletop.starts import TABLE_WORDS, arrange

ANGLE = np.array([0.35, 0.8])
AXIS = np.array([0, 0, 0.03])
LENGTH = 0.1
APPROACH = 0.4
WITHIN, FAR, NEAR = 0.035, 1.0, 0.1


class PullLever(Primitive):
    """Pull the lever as far as the goal marks, and hold it there."""

    id = "pull-lever"
    horizon = 50
    starts = (
        f"the mark at {np.degrees(ANGLE[0]):.0f}° to {np.degrees(ANGLE[1]):.0f}°, towards the middle of the table; "
        f"{TABLE_WORDS}"
    )
    shows_goal = True

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts; the goal marks the lever's tip at an angle."""
        arrange(scene, ids, rngs)
        draws = np.array([rng.random() for rng in rngs])
        self._mark(scene, ids, ANGLE[0] + (ANGLE[1] - ANGLE[0]) * draws)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal where the lever's tip is at the middle of the angles."""
        self._mark(scene, ids, np.full(len(ids), ANGLE.mean()))

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the finger tips to the lever's tip, then how much of the lever's way to the mark is done."""
        near = closeness(scene.distance(scene.lever, scene.tcp), WITHIN, FAR, NEAR)
        return APPROACH * near + (1 - APPROACH) * share(_pulled(scene) / _marked(scene))

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The lever has been pulled as far as the mark, or further."""
        return _pulled(scene) > _marked(scene)

    def _mark(self, scene: Scene, ids: NDArray[np.intp], angle: Floats) -> None:
        tip = np.stack([np.zeros(len(ids)), -np.sin(angle), np.cos(angle)], axis=1)
        scene.goal[ids] = scene.lever_base[ids] + AXIS + LENGTH * tip


def _pulled(scene: Scene) -> NDArray[np.float64]:
    """How far the lever's tip is from upright, towards the middle of the table, (N,) metres."""
    return scene.lever_base[:, 1] - scene.lever[:, 1]


def _marked(scene: Scene) -> NDArray[np.float64]:
    return scene.lever_base[:, 1] - scene.goal[:, 1]

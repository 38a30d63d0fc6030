"""press-button: down on the button, and hold it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import BUTTON_PRESSED, Scene
from etude.envs.tabletop.starts import TABLE_WORDS, arrange
from etude.envs.task import Task

APPROACH, PRESS = 0.2, 0.2
FAR, NEAR = 0.6, 0.1


class PressButton(Task):
    """Press the button, and hold it down."""

    id = "press-button"
    horizon = 60
    starts = TABLE_WORDS

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts."""
        arrange(scene, ids, rngs)

    def reward(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the finger tips to the button, then its depth."""
        return np.where(self.success(scene), 1.0, button_progress(scene))

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The button is pushed in by more than BUTTON_PRESSED."""
        return scene.button_depth > BUTTON_PRESSED


def button_progress(scene: Scene) -> NDArray[np.float64]:
    """Towards a pressed button, (N,): closeness of the finger tips, then the depth."""
    distance = scene.distance(scene.button, scene.tcp)
    return APPROACH * closeness(distance, FAR, NEAR) + PRESS * np.clip(scene.button_depth / BUTTON_PRESSED, 0, 1)

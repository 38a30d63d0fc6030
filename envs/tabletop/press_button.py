"""press-button: down on the button, and hold it."""

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import BUTTON_PRESSED, PRESSED_BUTTON, Scene, share

APPROACH = 0.4
WITHIN, FAR, NEAR = 0.02, 1.0, 0.1


class PressButton(Primitive):
    """Press the button, and hold it down."""

    id = "press-button"
    horizon = 60

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal where the button's top is once it is pressed."""
        scene.goal[ids] = scene.button_base[ids] + PRESSED_BUTTON

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the finger tips to the button, then its depth."""
        distance = scene.distance(scene.button, scene.tcp)
        depth = share(scene.button_depth / BUTTON_PRESSED)
        return APPROACH * closeness(distance, WITHIN, FAR, NEAR) + (1 - APPROACH) * depth

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The button is pushed in by more than BUTTON_PRESSED."""
        return scene.button_depth > BUTTON_PRESSED

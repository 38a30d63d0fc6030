"""Pictures of a simulation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.envs.errors import RunError
from etude.envs.tabletop.model import drawn_model

GOAL_GROUP = 4
NEEDS = (
    "cannot draw: without a screen this needs EGL (Debian: libegl1, libegl-mesa0, libgl1-mesa-dri) "
    "and MUJOCO_GL=egl in the environment"
)


class Camera:
    """A camera over the table, from where all of it is seen."""

    def __init__(self, width: int, height: int, goal: bool, cubes: int, furniture: str = "") -> None:
        """Make the renderer.

        Args:
            width: pixels.
            height: pixels.
            goal: whether to show the goal.
            cubes: 1 or 2.
            furniture: the task's own, in MJCF.

        Raises:
            RunError: this machine cannot draw; the message says what it lacks.
        """
        import mujoco

        self._mujoco = mujoco
        self._model = drawn_model(cubes, furniture)
        self._data = mujoco.MjData(self._model)
        self._options = mujoco.MjvOption()
        self._options.geomgroup[GOAL_GROUP] = goal
        try:
            self._renderer = mujoco.Renderer(self._model, height, width)
        except Exception as error:
            raise RunError(f"{NEEDS} ({error})") from error

    def frame(self, state: NDArray[np.float64]) -> NDArray[np.uint8]:
        """The picture of one state row, (height, width, 3)."""
        spec = self._mujoco.mjtState.mjSTATE_INTEGRATION
        self._mujoco.mj_setState(self._model, self._data, state, spec)
        self._mujoco.mj_forward(self._model, self._data)
        self._renderer.update_scene(self._data, camera="overview", scene_option=self._options)
        picture: NDArray[np.uint8] = self._renderer.render()
        return picture.copy()

    def close(self) -> None:
        """Free the renderer."""
        self._renderer.close()

"""hover-cube: the finger tips above the cube. Étude imports this module when it looks for tasks."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude import register_oracle, register_task
from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import TABLE_WORDS, arrange
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats, TabletopOracle

ABOVE = np.array([0, 0, 0.1])
TOLERANCE = 0.02


class HoverCube(Primitive):
    """Bring the finger tips 10 cm above the cube, and stay there."""

    id = "hover-cube"
    horizon = 60
    starts = TABLE_WORDS

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts; the goal marks the place above the cube."""
        arrange(scene, ids, rngs)
        self.mark(scene, ids)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal above the cube."""
        scene.goal[ids] = scene.cube[ids] + ABOVE

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the finger tips to the goal."""
        return closeness(scene.distance(scene.goal, scene.tcp), within=TOLERANCE, far=0.8, near=0.1)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The finger tips are within TOLERANCE of the goal."""
        return scene.distance(scene.goal, scene.tcp) < TOLERANCE


class HoverCubeOracle(TabletopOracle):
    """Straight to the goal."""

    task = "hover-cube"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """At the goal."""
        return privileged["goal"], False


register_task(HoverCube)
register_oracle(HoverCubeOracle)

"""hover-cube: the finger tips above the cube. Étude imports this module when it looks for tasks."""

import numpy as np

from etude import register_oracle, register_task
from etude.tabletop import Bools, Floats, Ids, Primitive, Privileged, Scene, TabletopOracle, closeness

ABOVE = np.array([0, 0, 0.1])
TOLERANCE = 0.02


class HoverCube(Primitive):
    """Bring the finger tips 10 cm above the cube, and stay there."""

    id = "hover-cube"
    horizon = 60

    def mark(self, scene: Scene, ids: Ids) -> None:
        """Put the goal above the cube."""
        scene.goal[ids] = scene.cube[ids] + ABOVE

    def progress(self, scene: Scene) -> Floats:
        """Closeness of the finger tips to the goal."""
        return closeness(scene.distance(scene.goal, scene.tcp), within=TOLERANCE, far=0.8, near=0.1)

    def success(self, scene: Scene) -> Bools:
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

"""slide-knob: a tabletop primitive with furniture of its own, a knob on a rail, and its oracle."""

import numpy as np

from etude import register_oracle, register_task
from etude.tabletop import Bools, Floats, Ids, Primitive, Privileged, Rngs, Scene, TabletopOracle, closeness, drawn

FAR_ENOUGH = 0.08
PLACES = np.array([[-0.01, -0.04], [0.01, 0.04]])
KNOB = np.array([0, 0, 0.04])
BEHIND = np.array([0, -0.035, 0])
PUSHING = np.array([0, 0.02, 0])  # beyond the knob, so that the fingers lean on it
RAIL = """
<worldbody>
  <body name="rail" mocap="true" pos=".33 -.1 0" childclass="furniture">
    <geom size=".01 .07 .005" pos="0 .045 .005" material="joint"/>
    <body name="knob" pos="0 0 .04">
      <joint name="knob" type="slide" axis="0 1 0" range="0 .1" damping="5"/>
      <geom type="cylinder" size=".012 .025" mass=".1" material="lever"/>
      <site name="knob" group="3"/>
    </body>
  </body>
</worldbody>
"""


class SlideKnob(Primitive):
    """Slide the knob along its rail, and leave it there."""

    id = "slide-knob"
    horizon = 60
    furniture = RAIL

    def furnish(self, scene: Scene, ids: Ids, rngs: Rngs) -> None:
        """Rail ±1 cm along x and ±4 cm along y, the knob at its near end."""
        scene.stand("rail")[ids, :2] += drawn(PLACES, rngs)

    def mark(self, scene: Scene, ids: Ids) -> None:
        """Put the goal where the knob is."""
        scene.goal[ids] = scene.stand("rail")[ids] + KNOB
        scene.goal[ids, 1] += scene.joint("knob")[ids]

    def advance(self, scene: Scene, ids: Ids) -> None:
        """The goal goes with the knob, which agents see by it alone."""
        self.mark(scene, ids)

    def progress(self, scene: Scene) -> Floats:
        """Closeness of the finger tips to behind the knob, then the knob's way."""
        near = closeness(scene.distance(scene.site("knob") + BEHIND, scene.tcp), within=0.025, far=1.0, near=0.1)
        return 0.4 * near + 0.6 * np.clip(scene.joint("knob") / FAR_ENOUGH, 0, 1)

    def success(self, scene: Scene) -> Bools:
        """The knob is FAR_ENOUGH from the rail's near end."""
        return scene.joint("knob") > FAR_ENOUGH

    def privileged(self, scene: Scene) -> Privileged:
        """Where the knob is."""
        return {"knob": scene.site("knob")}


class SlideKnobOracle(TabletopOracle):
    """Over the place behind the knob with closed fingers, down, and along the rail."""

    task = "slide-knob"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """Behind the knob first; once down there, through it."""
        knob, tcp = privileged["knob"], privileged["tcp"]
        target = knob + BEHIND
        off = np.abs(ahead - target)
        over = (off[:, 0] < 0.02) & (tcp[:, 1] < knob[:, 1] - 0.015)
        low = over & (tcp[:, 2] < knob[:, 2] + 0.02)
        target[~over, 2] = knob[~over, 2] + 0.045
        target[low] = knob[low] + PUSHING
        return target, True


register_task(SlideKnob)
register_oracle(SlideKnobOracle)

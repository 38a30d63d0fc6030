"""slide-knob: a tabletop primitive with furniture of its own, a knob on a rail, and its oracle."""

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

FAR_ENOUGH = 0.08
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
    starts = f"knob at the rail's near end, the rail ±1 cm along x and ±4 cm along y; {TABLE_WORDS}"
    furniture = RAIL

    def reset(self, scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
        """The common starts, and the rail somewhere."""
        arrange(scene, ids, rngs)
        place_rail(scene, ids, rngs)
        self.mark(scene, ids)

    def advance(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """The goal goes with the knob, which agents see by it alone."""
        self.mark(scene, ids)

    def mark(self, scene: Scene, ids: NDArray[np.intp]) -> None:
        """Put the goal where the knob is."""
        scene.goal[ids] = scene.stand("rail")[ids] + KNOB
        scene.goal[ids, 1] += scene.joint("knob")[ids]

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        """Closeness of the finger tips to behind the knob, then the knob's way."""
        near = closeness(scene.distance(scene.site("knob") + BEHIND, scene.tcp), within=0.025, far=1.0, near=0.1)
        return 0.4 * near + 0.6 * np.clip(scene.joint("knob") / FAR_ENOUGH, 0, 1)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        """The knob is FAR_ENOUGH from the rail's near end."""
        return scene.joint("knob") > FAR_ENOUGH

    def privileged(self, scene: Scene) -> dict[str, NDArray[np.float64]]:
        """Where the knob is."""
        return {"knob": scene.site("knob"), "knob_slid": scene.joint("knob")}


def place_rail(scene: Scene, ids: NDArray[np.intp], rngs: Sequence[np.random.Generator]) -> None:
    """Rail ±1 cm along x and ±4 cm along y."""
    scene.stand("rail")[ids, :2] += [0.01, 0.04] * (2 * np.array([rng.random(2) for rng in rngs]) - 1)


class SlideKnobOracle(TabletopOracle):
    """Over the place behind the knob with closed fingers, down, and along the rail."""

    task = "slide-knob"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """Behind the knob first; once down there, through it."""
        knob, tcp = privileged["knob"], privileged["tcp"]
        target = knob + BEHIND
        off = np.abs(ahead - target)
        over = (off[:, 0] < 0.012) & (tcp[:, 1] < knob[:, 1] - 0.015)
        low = over & (tcp[:, 2] < knob[:, 2] + 0.02)
        target[~over, 2] = knob[~over, 2] + 0.06
        target[low] = knob[low] + PUSHING
        return target, True

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        """Whether the knob is far enough along."""
        return np.asarray(privileged["knob_slid"] > FAR_ENOUGH)


register_task(SlideKnob)
register_oracle(SlideKnobOracle)

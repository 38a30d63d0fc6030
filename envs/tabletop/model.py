"""The compiled scene: one model to simulate, and the same with everything that is only seen."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mujoco

VISUAL = "visual"


@cache
def simulated_model() -> mujoco.MjModel:
    """The model of all tabletop tasks, without the geoms of class `visual`, which would cost a tenth of the speed."""
    spec = _spec()
    for geom in list(spec.geoms):
        if geom.classname.name == VISUAL:
            spec.delete(geom)
    return spec.compile()


@cache
def drawn_model() -> mujoco.MjModel:
    """The model to render; its state is laid out as the simulated model's."""
    return _spec().compile()


def _spec() -> mujoco.MjSpec:
    import mujoco

    return mujoco.MjSpec.from_string((files("etude.envs.tabletop") / "scene.xml").read_text())

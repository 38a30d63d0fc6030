"""The compiled scene, with one cube or two: to simulate, and with everything that is only seen."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mujoco

VISUAL = "visual"
BASE = (0.5, 0.2, 0.02)


@cache
def simulated_model(cubes: int = 1) -> mujoco.MjModel:
    """The model of tabletop tasks, without the geoms of class `visual`, which would cost a tenth of the speed.

    Args:
        cubes: 1, or 2 for a second one, called base, which would cost tasks that do not need it a quarter.
    """
    spec = _spec(cubes)
    for geom in list(spec.geoms):
        if geom.classname.name == VISUAL:
            spec.delete(geom)
    return spec.compile()


@cache
def drawn_model(cubes: int = 1) -> mujoco.MjModel:
    """The model to render; its state is laid out as that of the simulated model with as many cubes."""
    return _spec(cubes).compile()


def _spec(cubes: int) -> mujoco.MjSpec:
    import mujoco

    spec = mujoco.MjSpec.from_string((files("etude.envs.tabletop") / "scene.xml").read_text())
    if cubes == 2:
        body = spec.worldbody.add_body(name="base", pos=BASE)
        body.add_freejoint(name="base")
        body.add_geom(spec.find_default("base"))
        home = spec.key("home")
        home.qpos = [*home.qpos, *BASE, 1, 0, 0, 0]
    return spec

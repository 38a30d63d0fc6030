"""The compiled scene, with one cube or two and a task's own furniture: to simulate, and with all that is only seen."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from etude.envs.errors import RequestError

if TYPE_CHECKING:
    import mujoco

VISUAL = "visual"
BASE = (0.5, 0.2, 0.02)
SECTIONS = ("asset", "default", "worldbody", "contact", "equality", "tendon")


@cache
def simulated_model(cubes: int = 1, furniture: str = "") -> mujoco.MjModel:
    """The model of tabletop tasks, without the geoms of class `visual`, which would cost a tenth of the speed.

    Args:
        cubes: 1, or 2 for a second one, called base, which would cost tasks that do not need it a quarter.
        furniture: a task's own: sections of MJCF.

    Raises:
        RequestError: the furniture is not MJCF that fits into the scene.
    """
    spec = _spec(cubes, furniture)
    for geom in list(spec.geoms):
        if geom.classname.name == VISUAL:
            spec.delete(geom)
    return spec.compile()


@cache
def drawn_model(cubes: int = 1, furniture: str = "") -> mujoco.MjModel:
    """The model to render; its state is laid out as that of the simulated model of the same things."""
    return _spec(cubes, furniture).compile()


def _spec(cubes: int, furniture: str) -> mujoco.MjSpec:
    import mujoco

    text = (files("etude.envs.tabletop") / "scene.xml").read_text()
    spec = _furnished(text, furniture) if furniture else mujoco.MjSpec.from_string(text)
    if cubes == 2:
        spec.option.impratio = 1  # At 10, contacts of one free cube on another jitter, and it walks off.
        body = spec.worldbody.add_body(name="base", pos=BASE)
        body.add_freejoint(name="base")
        body.add_geom(spec.find_default("base"))
        home = spec.key("home")
        home.qpos = [*home.qpos, *BASE, 1, 0, 0, 0]
    return spec


def _furnished(text: str, furniture: str) -> mujoco.MjSpec:
    """The scene with more in its sections; at home, what is new stands as it is written."""
    import mujoco

    try:
        scene, sections = ElementTree.fromstring(text), ElementTree.fromstring(f"<furniture>{furniture}</furniture>")
        if stray := " ".join((sections.text or "").split()):
            raise RequestError(f"furniture: {stray!r:.60} stands in no section, must be in {', '.join(SECTIONS)}")
        for section in sections:
            if section.tag not in SECTIONS:
                raise RequestError(f"furniture: section <{section.tag}>, must be one of {', '.join(SECTIONS)}")
            place = scene.find(section.tag)
            (ElementTree.SubElement(scene, section.tag) if place is None else place).extend(section)
        spec = mujoco.MjSpec.from_string(ElementTree.tostring(scene, encoding="unicode"))
        home = spec.key("home")
        known, home.qpos = list(home.qpos), []
        home.qpos = [*known, *spec.compile().qpos0[len(known) :]]
    except RequestError:
        raise
    except ElementTree.ParseError as error:
        raise RequestError(f"furniture: {error}") from error
    except ValueError as error:  # Its lines are those of the scene with the furniture in it, which no one has seen.
        told = re.sub(r",? *\(?\bline \d+(, column \d+)?\)?", "", " ".join(str(error).split()))
        raise RequestError(f"furniture: {told}") from error
    return spec

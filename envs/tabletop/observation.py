"""The observation: named slots of fixed place, scale and bounds, the same in every task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from etude.envs.tabletop.scene import (
    BUTTON_PRESSED,
    DRAWER_TRAVEL,
    FINGER_OPEN,
    HOME,
    SETPOINT_LEASH,
    Floats,
    Scene,
)


@dataclass(frozen=True)
class Slot:
    """One quantity of the observation.

    Attributes:
        name: what it is.
        size: numbers it takes.
        unit: the quantity that reads 1, in metres or radians.
        bound: the reading at which it is clipped.
        read: the quantity, (N, size) or (N,).
    """

    name: str
    size: int
    unit: float
    bound: float
    read: Callable[[Scene], Floats]


def _cube_turn(scene: Scene) -> Floats:
    """Direction of the cube's sides: a quarter turn of a cube is none."""
    angle = 4 * scene.cube_yaw
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


SLOTS = (
    Slot("tcp_from_home", 3, 0.25, 4, lambda s: s.tcp - HOME),
    Slot("setpoint_from_tcp", 3, SETPOINT_LEASH, 4, lambda s: s.setpoint - s.tcp),
    Slot("fingers", 2, FINGER_OPEN, 2, lambda s: s.fingers),
    Slot("cube_from_tcp", 3, 0.125, 8, lambda s: s.cube - s.tcp),
    Slot("cube_turn", 2, 1, 1, _cube_turn),
    Slot("goal_from_tcp", 3, 0.125, 8, lambda s: s.goal - s.tcp),
    Slot("pad_from_tcp", 3, 0.125, 8, lambda s: s.pad - s.tcp),
    Slot("handle_from_tcp", 3, 0.25, 4, lambda s: s.handle - s.tcp),
    Slot("drawer_opening", 1, DRAWER_TRAVEL, 2, lambda s: s.drawer_opening),
    Slot("drawer_locked", 1, 1, 1, lambda s: s.drawer_locked),
    Slot("button_from_tcp", 3, 0.25, 4, lambda s: s.button - s.tcp),
    Slot("button_depth", 1, BUTTON_PRESSED, 2, lambda s: s.button_depth),
    Slot("lever_from_tcp", 3, 0.25, 4, lambda s: s.lever - s.tcp),
    Slot("lever_angle", 1, 1, 2, lambda s: s.lever_angle),
)

SIZE = sum(slot.size for slot in SLOTS)
_SCALES = np.concatenate([np.full(slot.size, 1 / slot.unit) for slot in SLOTS])
_BOUNDS = np.concatenate([np.full(slot.size, slot.bound) for slot in SLOTS])


def observation_space() -> Box:
    """The space of one simulation's observations."""
    return Box(-_BOUNDS.astype(np.float32), _BOUNDS.astype(np.float32), dtype=np.float32)


def observe(scene: Scene) -> NDArray[np.float32]:
    """All slots of all simulations, (N, SIZE), in a fresh array."""
    readings = np.empty((scene.size, SIZE))
    start = 0
    for slot in SLOTS:
        values = slot.read(scene)
        readings[:, start : start + slot.size] = values if values.ndim == 2 else values[:, None]
        start += slot.size
    readings *= _SCALES
    np.clip(readings, -_BOUNDS, _BOUNDS, out=readings)
    return readings.astype(np.float32)

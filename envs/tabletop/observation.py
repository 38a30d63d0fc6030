"""The observation: named slots of fixed place, scale and bounds, the same in every task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from etude.envs.tabletop.scene import BUTTON_PRESSED, DRAWER_TRAVEL, FINGER_OPEN, SETPOINT_LEASH, Scene

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Slot:
    """One quantity of the observation.

    Attributes:
        name: what it is.
        size: numbers it takes.
        unit: the quantity that reads 1, metres or radians.
        bound: the reading at which it is clipped.
        read: the quantity, (N, size).
    """

    name: str
    size: int
    unit: float
    bound: float
    read: Callable[[Scene], Floats]


def _column(values: Floats) -> Floats:
    return values[:, None]


def _yaw(scene: Scene) -> Floats:
    return np.stack([np.cos(4 * scene.cube_yaw), np.sin(4 * scene.cube_yaw)], axis=1)


CENTRE = np.array([0.5, 0.0, 0.2])

SLOTS = (
    Slot("tcp", 3, 0.25, 4, lambda s: s.tcp - CENTRE),
    Slot("setpoint_from_tcp", 3, SETPOINT_LEASH, 4, lambda s: s.setpoint - s.tcp),
    Slot("fingers", 2, FINGER_OPEN, 2, lambda s: s.fingers),
    Slot("cube_from_tcp", 3, 0.125, 8, lambda s: s.cube - s.tcp),
    Slot("cube_yaw", 2, 1, 1, _yaw),
    Slot("goal_from_tcp", 3, 0.125, 8, lambda s: s.goal - s.tcp),
    Slot("pad_from_tcp", 3, 0.125, 8, lambda s: s.pad - s.tcp),
    Slot("handle_from_tcp", 3, 0.25, 4, lambda s: s.handle - s.tcp),
    Slot("drawer_opening", 1, DRAWER_TRAVEL, 2, lambda s: _column(s.drawer_opening)),
    Slot("drawer_locked", 1, 1, 1, lambda s: _column(s.drawer_locked)),
    Slot("button_from_tcp", 3, 0.25, 4, lambda s: s.button - s.tcp),
    Slot("button_depth", 1, BUTTON_PRESSED, 2, lambda s: _column(s.button_depth)),
    Slot("lever_from_tcp", 3, 0.25, 4, lambda s: s.lever - s.tcp),
    Slot("lever_angle", 1, 1, 2, lambda s: _column(s.lever_angle)),
)

_BOUNDS = np.concatenate([np.full(slot.size, slot.bound, np.float32) for slot in SLOTS])


def observation_space() -> Box:
    """One simulation's observations."""
    return Box(-_BOUNDS, _BOUNDS, dtype=np.float32)


def observe(scene: Scene) -> NDArray[np.float32]:
    """All slots, (N, size of the space)."""
    readings = np.concatenate([slot.read(scene) / slot.unit for slot in SLOTS], axis=1)
    return np.clip(readings, -_BOUNDS, _BOUNDS).astype(np.float32)

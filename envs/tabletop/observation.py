"""The observation: named slots of fixed place, scale and bounds, the same in every task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from etude.envs.tabletop.scene import BUTTON_PRESSED, DRAWER_TRAVEL, FINGER_OPEN, HOME, SETPOINT_LEASH, Floats, Scene


@dataclass(frozen=True)
class Slot:
    """One quantity of the observation.

    Attributes:
        word: the scene's word for it.
        size: numbers it takes.
        unit: the quantity that reads 1, in metres or radians.
        bound: the reading at which it is clipped.
    """

    word: str
    size: int
    unit: float
    bound: float


# Points are read from the tool centre point, and that from its home; the first four are sites of the model.
SITES = (
    Slot("tcp", 3, 0.25, 4),
    Slot("handle", 3, 0.25, 4),
    Slot("button", 3, 0.25, 4),
    Slot("lever", 3, 0.25, 4),
)
CUBE, GOAL = Slot("cube", 3, 0.125, 8), Slot("goal", 3, 0.125, 8)
POINTS = (
    Slot("setpoint", 3, SETPOINT_LEASH, 4),
    CUBE,
    GOAL,
)
VALUES = (
    Slot("fingers", 2, FINGER_OPEN, 2),
    Slot("drawer_opening", 1, DRAWER_TRAVEL, 2),
    Slot("drawer_locked", 1, 1, 1),
    Slot("button_depth", 1, BUTTON_PRESSED, 2),
    Slot("lever_angle", 1, 1, 2),
)
# Set down within millimetres, the cube's way to its goal is lost between two readings of a decimetre.
DERIVED = (
    Slot("cube_to_goal", 3, 0.03, 8),
    Slot("cube_turn", 2, 1, 1),
)
SLOTS = (*SITES, *POINTS, *VALUES, *DERIVED)
SIZE = sum(slot.size for slot in SLOTS)


def _places() -> dict[str, slice]:
    ends = np.cumsum([slot.size for slot in SLOTS]).tolist()
    return {slot.word: slice(end - slot.size, end) for slot, end in zip(SLOTS, ends, strict=True)}


PLACES = _places()


def observation_space() -> Box:
    """The space of one simulation's observations."""
    bounds = np.repeat([slot.bound for slot in SLOTS], [slot.size for slot in SLOTS]).astype(np.float32)
    return Box(-bounds, bounds, dtype=np.float32)


class Observer:
    """Reads the observations of a scene, most of them in two gathers: a dozen slices would cost three times as much."""

    def __init__(self, scene: Scene) -> None:
        """Look up where the words of `scene` are."""
        self._scene = scene
        self._state: Floats = scene.batch.state
        self._sites: Floats = scene.batch.bind("site_xpos").reshape(scene.size, -1)
        self._from_sites = _columns(self._sites, scene, SITES)
        # The goal is kept elsewhere, and written over what is gathered in its place.
        stored = [CUBE if slot is GOAL else slot for slot in POINTS + VALUES]
        self._from_state = _columns(self._state, scene, stored)
        self._origins = np.resize(_columns(self._sites, scene, SITES[:1]), 3 * len(SITES + POINTS))
        rows = (scene.size, 1)  # whole tables, since numpy is slow at broadcasting short rows
        self._scales = np.tile(np.repeat([1 / slot.unit for slot in SLOTS], [slot.size for slot in SLOTS]), rows)
        self._high = np.tile(observation_space().high, rows)
        self._low = -self._high

    def __call__(self) -> NDArray[np.float32]:
        """All slots of all simulations, (N, SIZE), in a fresh array."""
        scene = self._scene
        sites, state = self._sites.take(self._from_sites, axis=1), self._state.take(self._from_state, axis=1)
        readings = np.concatenate((sites, state, scene.cube_to_goal, scene.cube_turn), axis=1)
        readings[:, PLACES["goal"]] = scene.goal
        origins = self._sites.take(self._origins, axis=1)
        origins[:, :3] = HOME
        readings[:, : len(self._origins)] -= origins
        readings *= self._scales
        observations = readings.astype(np.float32)
        np.maximum(observations, self._low, out=observations)
        np.minimum(observations, self._high, out=observations)
        return observations


def _columns(table: Floats, scene: Scene, slots: Iterable[Slot]) -> NDArray[np.intp]:
    """Which columns of a table the words are views of."""
    columns = []
    for slot in slots:
        view: Floats = getattr(scene, slot.word)
        if not np.shares_memory(view, table):
            raise TypeError(f"the scene's {slot.word} is not a view of the table it is looked up in")
        first = (view.__array_interface__["data"][0] - table.__array_interface__["data"][0]) // table.itemsize
        columns.append(np.arange(first, first + slot.size))
    return np.concatenate(columns)

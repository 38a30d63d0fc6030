"""How the tabletop oracles keep clear of the drawer's handle, its walls and the cabinet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats

BESIDE = 0.16
BEFORE = 0.075
THERE = 0.015
UNDER = 0.02
HIGH = 0.06
ROOM = np.array([-0.173, -0.138])
ASIDE = 0.012
OUT = 0.03
OVER = 0.1  # radians
AROUND, FREE = 0.05, 0.03


def clear_of_drawer(privileged: Privileged, target: Floats, below: float = 0) -> Floats:
    """The same targets, (N, 3), but over the drawer and its handle on the way into and out of them.

    Args:
        privileged: the environment's privileged state.
        target: (N, 3) where the finger tips should go.
        below: how far what they hold hangs down below them, metres.
    """
    tcp, handle = privileged["tcp"], privileged["handle"]

    def within(point: Floats) -> NDArray[np.bool_]:
        gap = point - handle
        return (np.abs(gap[:, 0]) < BESIDE) & (gap[:, 1] < BEFORE)

    here = within(tcp)
    on = (here | within(target)) & (np.abs(target - tcp)[:, :2] > THERE).any(axis=1)
    rising = on & here & (tcp[:, 2] - handle[:, 2] < UNDER + below)
    clear = target.copy()
    clear[on, 2] = np.maximum(target[on, 2], handle[on, 2] + HIGH + below)
    clear[rising, :2] = tcp[rising, :2]
    return clear


def clear_of_what_was_moved(privileged: Privileged, target: Floats) -> Floats:
    """The same targets, (N, 3), for a part that may come after one that has pulled out the drawer, or the lever over.

    Args:
        privileged: the environment's privileged state.
        target: (N, 3) where the finger tips should go.
    """
    out = privileged["drawer_opening"] > OUT
    clear = np.where(out[:, None], clear_of_drawer(privileged, target), target)
    gap = privileged["tcp"] - privileged["lever"]
    hooked = (privileged["lever_angle"] > OVER) & (np.abs(gap[:, :2]) < AROUND).all(axis=1) & (gap[:, 2] < FREE)
    clear[hooked] = privileged["tcp"][hooked]
    clear[hooked, 2] = privileged["lever"][hooked, 2] + 2 * FREE
    return clear


def between_walls(privileged: Privileged) -> Floats:
    """Where to grasp the cube, (N, 3): a little beside its middle where the hand would meet the drawer or the cabinet.

    Args:
        privileged: the environment's privileged state.
    """
    cube = np.array(privileged["cube"])
    place = cube[:, 1] - privileged["handle"][:, 1]
    aside = np.clip(np.clip(place, ROOM[0], ROOM[1]) - place, -ASIDE, ASIDE)
    cube[:, 1] += np.where(privileged["cube_in_drawer"], aside, 0)
    return cube

"""Where things stand at the start of an episode: one range for each thing, the same in every task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import HOME, Floats, Ids, Scene

CUBE = np.array([[0.4, -0.08], [0.6, 0.17]])
CUBE_YAW = np.pi / 4
PAD = CUBE
GOAL = np.array([[0.31, -0.18, 0.05], [0.61, 0.18, 0.35]])
GOAL_CLEARANCE = 0.1
FURNITURE = 0.04


def _extent(box: Floats) -> str:
    return " x ".join(f"{100 * side:.0f}" for side in box[1] - box[0]) + " cm"


CUBE_WORDS = f"cube over {_extent(CUBE)} and ±{np.degrees(CUBE_YAW):.0f}° of yaw"
GOAL_WORDS = f"goal over {_extent(GOAL)}, at least {100 * GOAL_CLEARANCE:.0f} cm from the finger tips"
FURNITURE_WORDS = f"cabinet, button and lever ±{100 * FURNITURE:.0f} cm along x and y"
TABLE_WORDS = f"robot at home; {FURNITURE_WORDS}; {CUBE_WORDS}"


def arrange(scene: Scene, ids: Ids, rngs: Sequence[np.random.Generator]) -> None:
    """Vary the whole table of simulations that stand at home, whatever the task needs of it.

    Args:
        scene: the scene.
        ids: (M,) simulations.
        rngs: (M,) their own generators.
    """
    draws = np.array([rng.random(14) for rng in rngs])
    cube, yaw, goal, pad, furniture = np.split(draws, [2, 3, 6, 8], axis=1)
    scene.cube[ids, :2] = _within(CUBE, cube)
    half = CUBE_YAW * (2 * yaw[:, 0] - 1) / 2
    scene.cube_quaternion[ids, 0], scene.cube_quaternion[ids, 3] = np.cos(half), np.sin(half)
    scene.goal[ids] = _clear(_within(GOAL, goal))
    scene.pad[ids, :2] = _within(PAD, pad)
    for k, stand in enumerate((scene.cabinet, scene.button_base, scene.lever_base)):
        stand[ids, :2] += FURNITURE * (2 * furniture[:, 2 * k : 2 * k + 2] - 1)


def _within(box: Floats, draws: Floats) -> Floats:
    point: Floats = box[0] + (box[1] - box[0]) * draws
    return point


def _clear(goals: Floats) -> NDArray[np.float64]:
    """Goals too near the finger tips' home, moved straight away from it."""
    away = goals - HOME
    gap = Scene.distance(goals, HOME)[:, None]
    return np.where(gap < GOAL_CLEARANCE, HOME + away * (GOAL_CLEARANCE / gap), goals)

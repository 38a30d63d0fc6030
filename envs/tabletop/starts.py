"""Where things stand at the start of an episode: one range for each thing, the same in every task."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from etude.envs.tabletop.scene import FINGER_OPEN, HOME, Floats, Ids, Scene

CUBE = np.array([[0.4, -0.08], [0.6, 0.17]])
CUBE_YAW = np.pi / 4
PAD = CUBE
GOAL = np.array([[0.31, -0.18, 0.05], [0.61, 0.18, 0.35]])
GOAL_CLEARANCE = 0.1
FURNITURE = 0.04
IN_HAND = np.array([0.006, 0.0, 0.005])
ABOVE_CUBE = np.array([[-0.05, -0.05, 0.06], [0.05, 0.05, 0.16]])
OVER_PAD = np.array([[-0.05, -0.05, 0.07], [0.05, 0.05, 0.15]])
HELD = np.array([[*CUBE[0], 0.15], [*CUBE[1], 0.25]])


def extent(box: Floats) -> str:
    """How far a box extends, in words."""
    return " x ".join(f"{100 * side:.0f}" for side in box[1] - box[0]) + " cm"


YAW_WORDS = f"±{np.degrees(CUBE_YAW):.0f}° of yaw"
PLACE_WORDS = f"anywhere in {extent(CUBE)}"
CUBE_WORDS = f"cube over {extent(CUBE)} and {YAW_WORDS}"
PAD_WORDS = f"target over {extent(PAD)}"
PAD_APART_WORDS = f"{PAD_WORDS}, at least {100 * GOAL_CLEARANCE:.0f} cm from the cube"
GOAL_WORDS = f"goal over {extent(GOAL)}, at least {100 * GOAL_CLEARANCE:.0f} cm from the finger tips"
FURNITURE_WORDS = f"cabinet, button and lever ±{100 * FURNITURE:.0f} cm along x and y"
TABLE_WORDS = f"robot at home; {FURNITURE_WORDS}; {CUBE_WORDS}"
HOVER_WORDS = f"gripper anywhere in {extent(ABOVE_CUBE)} above the cube"
IN_HAND_WORDS = f"±{1000 * IN_HAND[0]:.0f} mm along the pads and ±{1000 * IN_HAND[2]:.0f} mm in height, {YAW_WORDS}"


def with_more(words: str, change: Callable[..., Any]) -> str:
    """Starts in words, before them what a function that changes them says of itself in its docstring's first line."""
    said = (inspect.getdoc(change) or "").split("\n")[0].rstrip(".")
    return f"{said or 'prepared'}; {words}"


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
    scene.goal[ids] = apart(_within(GOAL, goal), HOME, GOAL)
    scene.pad[ids, :2] = _within(PAD, pad)
    for k, stand in enumerate((scene.cabinet, scene.button_base, scene.lever_base)):
        stand[ids, :2] += FURNITURE * (2 * furniture[:, 2 * k : 2 * k + 2] - 1)


def hover(scene: Scene, ids: Ids, rngs: Sequence[np.random.Generator], closed: bool = False) -> None:
    """Put the open or closed gripper anywhere in the box ABOVE_CUBE, seen from the cube's centre."""
    points = scene.cube[ids] + drawn(ABOVE_CUBE, rngs)
    scene.pose_arm(ids, points, np.full(len(ids), 0 if closed else FINGER_OPEN), closing=closed)


def part_pad(scene: Scene, ids: Ids) -> None:
    """Move targets that are too near the cube away from it."""
    scene.pad[ids, :2] = apart(scene.pad[ids, :2], scene.cube[ids, :2], PAD)


def put_base(scene: Scene, ids: Ids, rngs: Sequence[np.random.Generator]) -> None:
    """Put the base on the target, turned anyhow."""
    scene.base[ids, :2] = scene.pad[ids, :2]
    half = CUBE_YAW * (2 * np.array([rng.random() for rng in rngs]) - 1) / 2
    scene.base_quaternion[ids, 0], scene.base_quaternion[ids, 3] = np.cos(half), np.sin(half)


def hold(scene: Scene, ids: Ids, rngs: Sequence[np.random.Generator], cubes: Floats) -> None:
    """Let the gripper hold the cube anywhere within the pads, turned as it stood on the table.

    Args:
        scene: the scene.
        ids: (M,) simulations.
        rngs: (M,) their own generators.
        cubes: (M, 3) for the cubes' centres.
    """
    scene.hold_cube(ids, cubes, scene.cube_yaw[ids], drawn(np.stack([-IN_HAND, IN_HAND]), rngs))


def drawn(box: Floats, rngs: Sequence[np.random.Generator]) -> Floats:
    """Points of a box, (M, D), each from its own generator.

    Args:
        box: (2, D) its corners.
        rngs: (M,) generators.
    """
    return _within(box, np.array([rng.random(box.shape[1]) for rng in rngs]))


def apart(points: Floats, start: Floats, box: Floats) -> Floats:
    """Points of a box, (M, D); those too near their start are moved straight away from it, turning at the box's sides.

    Args:
        points: (M, D) in the box.
        start: (D,) or (M, D) in the box.
        box: (2, D) its corners, each side at least twice GOAL_CLEARANCE.
    """
    away = points - start
    gap = np.sqrt(sum(axis * axis for axis in away.T))[:, None]
    way = away * (GOAL_CLEARANCE / gap)
    moved = np.where((start + way < box[0]) | (start + way > box[1]), start - way, start + way)
    return np.where(gap < GOAL_CLEARANCE, moved, points)


def _within(box: Floats, draws: Floats) -> Floats:
    point: Floats = box[0] + (box[1] - box[0]) * draws
    return point

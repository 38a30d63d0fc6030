import os
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

from etude.envs import RunError
from etude.envs.vector import TabletopVectorEnv


def picture(env: TabletopVectorEnv) -> NDArray[np.uint8]:
    try:
        frames = env.render()
    except RunError as error:
        pytest.skip(str(error))
    assert frames is not None and len(frames) == env.num_envs
    return frames[0]


def test_a_picture_shows_the_scene_and_what_moves_in_it() -> None:
    env = TabletopVectorEnv("open-drawer", 2, render_mode="rgb_array")
    env.reset(seed=0)
    before = picture(env)
    assert before.shape == (480, 640, 3) and before.dtype == np.uint8 and len(np.unique(before)) > 100
    assert np.array_equal(before, picture(env))
    env.step(np.ones((2, 4)))
    assert not np.array_equal(before, picture(env))
    env.close()


def test_drawing_changes_nothing() -> None:
    env = TabletopVectorEnv("reach", 1, render_mode="rgb_array")
    env.reset(seed=0)
    before = env.scene.batch.state.copy()
    picture(env)
    assert np.array_equal(env.scene.batch.state, before)
    env.close()


def test_pictures_may_be_large() -> None:
    env = TabletopVectorEnv("reach", 1, render_mode="rgb_array", width=1280, height=960)
    env.reset(seed=0)
    assert picture(env).shape == (960, 1280, 3)
    env.close()


def test_the_goal_is_shown_where_nothing_else_stands_for_it() -> None:
    green = {}
    for task in ("reach", "press-button"):
        env = TabletopVectorEnv(task, 1, render_mode="rgb_array")
        env.reset(seed=0)
        r, g, b = np.moveaxis(picture(env).astype(int), -1, 0)
        green[task] = int(((g > r + 40) & (g > b + 40)).sum())
        env.close()
    assert green["reach"] > 100 and green["press-button"] == 0


def test_without_a_render_mode_there_is_no_picture() -> None:
    env = gym.make("etude/Reach-v0").unwrapped
    env.reset(seed=0)
    assert env.render() is None


WITHOUT_EGL = """
import ctypes, os

class Library(ctypes.CDLL):
    def __init__(self, name, *arguments, **keywords):
        if "EGL" in str(name):
            raise OSError(f"{name}: cannot open shared object file")
        super().__init__(name, *arguments, **keywords)

ctypes.CDLL = Library
import etude, gymnasium

env = gymnasium.make("etude/Reach-v0", render_mode="rgb_array")
env.reset(seed=0)
env.step(env.action_space.sample())
try:
    env.render()
except RuntimeError as error:
    print(error)
"""


def test_without_a_screen_and_egl_tasks_are_played_and_only_drawing_fails() -> None:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL", "PYOPENGL_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EGL], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("cannot draw: without a screen this needs EGL (Debian: libegl1")

"""Episodes in MuJoCo's own viewer, at the speed of the robot's clock."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings

from etude.curriculum.watch import Moment, Watch
from etude.envs import RequestError, RunError
from etude.envs.tabletop.camera import GOAL_GROUP
from etude.envs.tabletop.model import drawn_model
from etude.envs.vector import TabletopVectorEnv


def check_screen() -> None:
    """Whether there is a screen.

    Raises:
        RunError: there is none.
    """
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise RunError("--live: this machine has no screen (DISPLAY is not set); take --out FILE instead")


def show_episodes(watch: Watch) -> list[Moment]:
    """Play in a window until the last episode is over or the window is closed.

    Returns:
        The last moment of each episode that came to its end.

    Raises:
        RequestError: the task is not of the tabletop.
        RunError: there is no screen, or the window cannot be opened.
    """
    check_screen()
    import glfw
    import mujoco
    import mujoco.viewer

    env = watch.envs.unwrapped
    if not isinstance(env, TabletopVectorEnv):
        raise RequestError("--live: shows tabletop tasks alone; take --out FILE instead")
    model = drawn_model(env.task.cubes, env.task.furniture)
    data = mujoco.MjData(model)
    ends: list[Moment] = []
    others = threading.enumerate()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # The error says it.
            if not glfw.init():  # Without this look, the viewer's thread would die and never answer.
                raise RuntimeError("GLFW does not start on this screen")
        viewer = mujoco.viewer.launch_passive(model, data, show_left_ui=False, show_right_ui=False)
    except Exception as error:
        raise RunError(f"--live: the viewer does not open ({error}); take --out FILE instead") from error
    with viewer:
        viewer.opt.geomgroup[GOAL_GROUP] = env.task.shows_goal
        viewer.cam.azimuth, viewer.cam.elevation, viewer.cam.distance = 210, -25, 2.0
        for moment in watch.play():
            started = time.perf_counter()
            with viewer.lock():
                mujoco.mj_setState(model, data, env.scene.rows()[0], mujoco.mjtState.mjSTATE_INTEGRATION)
                mujoco.mj_forward(model, data)
            words = f"{watch.title_of(moment.episode)}\nstep {moment.step}\n{moment.tally}" + (
                "\nsuccess" if moment.success else ""
            )
            viewer.set_texts((mujoco.mjtFontScale.mjFONTSCALE_150, mujoco.mjtGridPos.mjGRID_TOPLEFT, words, ""))
            viewer.sync()
            if moment.last:
                ends.append(moment)
            time.sleep(max(0.0, (1.0 if moment.last else 1 / watch.rate) - (time.perf_counter() - started)))
            if not viewer.is_running():
                break
    for thread in set(threading.enumerate()).difference(others):
        thread.join(10)  # The viewer's own: the process would crash if it ended while the window is being closed.
    return ends

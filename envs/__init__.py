"""Tasks, and the batched and single environments that play them."""

import ctypes
import os
import sys

import etude.envs.tabletop  # noqa: F401  (registers its tasks)
from etude.envs.errors import RequestError, RunError
from etude.envs.foreign import register_environment
from etude.envs.registry import (
    TaskSpec,
    get_task,
    is_tabletop,
    make_vector,
    plugin_faults,
    register_task,
    take_task,
    task_ids,
)
from etude.envs.seeding import seed_sequence, stream_seed
from etude.envs.task import Task

__all__ = [
    "RequestError",
    "RunError",
    "Task",
    "TaskSpec",
    "get_task",
    "is_tabletop",
    "make_vector",
    "plugin_faults",
    "register_environment",
    "register_task",
    "seed_sequence",
    "stream_seed",
    "take_task",
    "task_ids",
]


def _has_egl() -> bool:
    try:
        ctypes.CDLL("libEGL.so.1")
    except OSError:
        return False
    return True


# MuJoCo reads this once, when it is first imported: where there is no screen, it draws by EGL. Without EGL's library
# that import would fail, and with it what draws nothing.
if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
    os.environ.setdefault("MUJOCO_GL", "egl" if _has_egl() else "disable")

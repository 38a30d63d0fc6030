"""The registered tasks: what the rest of the project knows of a task."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import gymnasium
from gymnasium.vector import AutoresetMode, VectorEnv

from etude.envs.errors import RequestError, nearest
from etude.envs.task import Task

FRAME = ("scene.xml", "model.py", "arm.py", "scene.py", "starts.py", "observation.py", "rewards.py")

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True)
class TaskSpec:
    """What the rest of the project knows of a task.

    Attributes:
        id: lower-case words joined by hyphens.
        version: of its returns.
        kind: practised, or performed.
        parts: of a composition, its primitives' ids.
        horizon: control steps of an episode.
        gymnasium_id: its name for `gymnasium.make` and `gymnasium.make_vec`.
        make_vector: makes (num_envs, autoreset_mode, threads, render_mode) its vector environment.
        sources: the files whose change changes the task.
        description: one line.
        starts: what varies from episode to episode, in words.
    """

    id: str
    version: int
    kind: Literal["primitive", "composition"]
    parts: tuple[str, ...]
    horizon: int
    gymnasium_id: str
    make_vector: Callable[..., VectorEnv[Any, Any, Any]]
    sources: tuple[Path, ...]
    description: str
    starts: str


_specs: dict[str, TaskSpec] = {}
_classes: dict[str, type[Task]] = {}


def register_task(task_class: type[Task]) -> TaskSpec:
    """Make a task known by its id, to this project and to Gymnasium.

    Raises:
        RequestError: the id is taken or not lower-case words joined by hyphens, or a part is unknown.
    """
    task_id = task_class.id
    if not _ID.fullmatch(task_id):
        raise RequestError(f"task id {task_id!r}: must be lower-case words joined by hyphens, such as 'open-drawer'")
    if task_id in _specs:
        raise RequestError(f"task id {task_id!r}: already registered by {_classes[task_id].__qualname__}")
    for part in task_class.parts:
        get_task(part)
    name = "".join(word.capitalize() for word in task_id.split("-"))
    spec = TaskSpec(
        id=task_id,
        version=task_class.version,
        kind=task_class.kind,
        parts=task_class.parts,
        horizon=task_class.horizon,
        gymnasium_id=f"etude/{name}-v{task_class.version}",
        make_vector=partial(make_vector, task_id),
        sources=_sources(task_class),
        description=(inspect.getdoc(task_class) or "").split("\n")[0],
        starts=task_class.starts,
    )
    gymnasium.register(
        spec.gymnasium_id,
        entry_point="etude.envs.single:TabletopEnv",
        vector_entry_point="etude.envs.vector:TabletopVectorEnv",
        kwargs={"task": task_id},
    )
    _specs[task_id], _classes[task_id] = spec, task_class
    return spec


def get_task(task_id: str) -> TaskSpec:
    """The task of that id.

    Raises:
        RequestError: there is none; the message names the nearest.
    """
    if task_id not in _specs:
        raise RequestError(f"unknown task {task_id!r}; {nearest(task_id, _specs)}")
    return _specs[task_id]


def task_class(task_id: str) -> type[Task]:
    """The class that plays the task of that id."""
    return _classes[get_task(task_id).id]


def task_ids() -> tuple[str, ...]:
    """The ids of all registered tasks, in the order of registration."""
    return tuple(_specs)


def make_vector(
    task_id: str,
    num_envs: int,
    *,
    autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
    threads: int = 1,
    render_mode: str | None = None,
) -> VectorEnv[Any, Any, Any]:
    """A vector environment of the task, as `gymnasium.make_vec` makes it.

    Args:
        task_id: a registered task.
        num_envs: simulations side by side.
        autoreset_mode: Gymnasium's.
        threads: simulator threads.
        render_mode: None or "rgb_array".
    """
    return gymnasium.make_vec(
        get_task(task_id).gymnasium_id,
        num_envs=num_envs,
        autoreset_mode=AutoresetMode(autoreset_mode).value,
        threads=threads,
        render_mode=render_mode,
    )


def _sources(task_class: type[Task]) -> tuple[Path, ...]:
    """The task's own files, its parts', and what all tasks stand on."""
    folder = Path(__file__).parent
    own = [Path(inspect.getfile(base)) for base in task_class.__mro__ if issubclass(base, Task)]
    parts = [path for part in task_class.parts for path in get_task(part).sources]
    frame = [folder / "vector.py", *(folder / "tabletop" / name for name in FRAME)]
    return tuple(dict.fromkeys(own + parts + frame))

"""The registered tasks: what the rest of the project knows of a task."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import gymnasium
from gymnasium.vector import AutoresetMode, VectorEnv

from etude.envs.errors import RequestError, RunError, in_words, nearest
from etude.envs.plugins import load_plugins
from etude.envs.task import Task

FRAME = ("scene.xml", "model.py", "arm.py", "scene.py", "starts.py", "observation.py", "rewards.py")

LONGEST = 1_000_000
"""Control steps of an episode at the most, 14 hours of a robot's; a longer one never ends for who waits for it."""

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """What the rest of the project knows of a task.

    Attributes:
        id: lower-case words joined by hyphens.
        horizon: control steps of an episode, at the most.
        make_vector: called as `make_vector(num_envs, autoreset_mode=..., threads=..., render_mode=...)`, makes the
            task's vector environment, whose `unwrapped.privileged_state()` is what its oracle reads. With
            `unwrapped.snapshot()` and `restore(snapshot)`, arrays by name, runs are resumed with the same bits.
        version: of its returns.
        kind: practised, or performed.
        parts: of a composition, its primitives' ids.
        gymnasium_id: its name for `gymnasium.make` and `gymnasium.make_vec`; empty if it has none.
        sources: the files whose change changes the task.
        description: one line.
        starts: what varies from episode to episode, in words.
    """

    id: str
    horizon: int
    make_vector: Callable[..., VectorEnv[Any, Any, Any]]
    version: int = 0
    kind: Literal["primitive", "composition"] = "primitive"
    parts: tuple[str, ...] = ()
    gymnasium_id: str = ""
    sources: tuple[Path, ...] = ()
    description: str = ""
    starts: str = ""


_specs: dict[str, TaskSpec] = {}
_classes: dict[str, type[Task]] = {}


def register_task(task: type[Task] | TaskSpec) -> TaskSpec:
    """Make a task known by its id: a class to this project and to Gymnasium, a spec to this project.

    Raises:
        RequestError: it is no task; the id is taken or not lower-case words joined by hyphens; a part is unknown, a
            composition or the task itself; or the class is not whole.
    """
    if isinstance(task, TaskSpec):
        check_task(task.id, task.parts)
        _check_numbers(task)
        _specs[task.id] = task
        return task
    _check_whole(task)
    check_task(task.id, task.parts)
    _check_numbers(task)
    name = "".join(word.capitalize() for word in task.id.split("-"))
    for known in _classes:
        if _specs[known].gymnasium_id.startswith(f"etude/{name}-v"):
            raise RequestError(f"task id {task.id!r}: is etude/{name} to Gymnasium, as {known!r} is; take another")
    spec = TaskSpec(
        id=task.id,
        version=task.version,
        kind=task.kind,
        parts=task.parts,
        horizon=task.horizon,
        gymnasium_id=f"etude/{name}-v{task.version}",
        make_vector=partial(_make_tabletop, task.id),
        sources=_sources(task),
        description=(inspect.getdoc(task) or "").split("\n")[0],
        starts=task.starts,
    )
    gymnasium.register(
        spec.gymnasium_id,
        entry_point="etude.envs.single:TabletopEnv",
        vector_entry_point="etude.envs.vector:TabletopVectorEnv",
        kwargs={"task": task.id},
    )
    _specs[task.id], _classes[task.id] = spec, task
    return spec


def take_task(found: object) -> None:
    """Register what an entry point or a suite's import names: a task's class or spec, unless its module did so.

    Raises:
        RequestError: it is neither, nor a module; or it cannot be registered.
    """
    if isinstance(found, TaskSpec) or (inspect.isclass(found) and issubclass(found, Task)):
        known: dict[str, Any] = _specs if isinstance(found, TaskSpec) else _classes
        if known.get(getattr(found, "id", "")) is not found:
            register_task(found)
    elif not isinstance(found, ModuleType):
        raise RequestError(f"{getattr(found, '__qualname__', found)!s:.60} is no task; name its module alone")


def plugin_faults() -> tuple[str, ...]:
    """A line for each installed package whose tasks cannot be loaded."""
    return load_plugins("etude.tasks", take_task)


def get_task(task_id: str) -> TaskSpec:
    """The task of that id, registered already or by an installed package.

    Raises:
        RequestError: there is none; the message names the nearest, and the packages that could not be loaded.
    """
    if task_id not in _specs:
        faults = plugin_faults()
        if task_id not in _specs:
            raise RequestError("; ".join([f"unknown task {task_id!r}; {nearest(task_id, _specs)}", *faults]))
    return _specs[task_id]


def task_class(task_id: str) -> type[Task]:
    """The class that plays the task of that id.

    Raises:
        RequestError: there is no such task, or it is not one of the tabletop's.
    """
    if not is_tabletop(task_id):
        raise RequestError(f"task {task_id!r}: is not one of the tabletop")
    return _classes[task_id]


def is_tabletop(task_id: str) -> bool:
    """Whether a task is one of the tabletop, whose spaces are all the same."""
    return get_task(task_id).id in _classes


def task_ids() -> tuple[str, ...]:
    """The ids of all tasks, those of installed packages included, in the order of registration."""
    plugin_faults()
    return tuple(_specs)


def make_vector(
    task_id: str,
    num_envs: int,
    *,
    autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
    threads: int = 1,
    render_mode: str | None = None,
) -> VectorEnv[Any, Any, Any]:
    """A vector environment of the task.

    Args:
        task_id: a registered task.
        num_envs: simulations side by side.
        autoreset_mode: Gymnasium's.
        threads: simulator threads.
        render_mode: None or "rgb_array".

    Raises:
        RequestError: there is no such task, or its environment cannot be made.
    """
    spec, mode = get_task(task_id), AutoresetMode(autoreset_mode)
    try:
        made = spec.make_vector(num_envs, autoreset_mode=mode, threads=threads, render_mode=render_mode)
    except (RequestError, RunError):
        raise
    except (Exception, SystemExit) as error:
        raise RequestError(f"task {task_id}: its environment cannot be made: {in_words(error)}") from error
    from etude.envs.own import watched

    return watched(made, task_id)


def _make_tabletop(
    task_id: str, num_envs: int, *, autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP, **options: Any
) -> VectorEnv[Any, Any, Any]:
    mode = AutoresetMode(autoreset_mode).value
    return gymnasium.make_vec(get_task(task_id).gymnasium_id, num_envs=num_envs, autoreset_mode=mode, **options)


def check_task(task_id: str, parts: tuple[str, ...]) -> None:
    """Whether a task of that id and parts can be registered.

    Raises:
        RequestError: the id is taken or no id, or a part is unknown, a composition or the task itself.
    """
    if not isinstance(task_id, str) or not _ID.fullmatch(task_id):
        raise RequestError(f"task id {task_id!r}: must be lower-case words joined by hyphens, such as 'open-drawer'")
    if task_id in _specs:
        by = f" by {_classes[task_id].__qualname__}" if task_id in _classes else ""
        raise RequestError(f"task id {task_id!r}: already registered{by}")
    for part in parts:
        if not isinstance(part, str):
            raise RequestError(f"task {task_id!r}: its part {part!r:.60} is no id; name it by its id, as 'open-drawer'")
        if part == task_id:
            raise RequestError(f"task {task_id!r}: is a part of itself; parts must be primitives")
        try:
            spec = get_task(part)
        except RequestError as error:
            raise RequestError(f"task {task_id!r}: {error}") from None
        if spec.kind == "composition":
            raise RequestError(
                f"task {task_id!r}: its part {part!r} is a composition; name what that is made of, "
                f"{', '.join(spec.parts)}"
            )


def _check_whole(task: object) -> None:
    if not (inspect.isclass(task) and issubclass(task, Task)):
        raise RequestError(f"{task!r:.60} is no task; register a class derived from etude.Task, not an object of it")
    lacking = [name for name in ("id", "horizon", "starts") if not hasattr(task, name)]
    lacking += sorted(getattr(task, "__abstractmethods__", ()))
    if lacking:
        raise RequestError(f"task class {task.__qualname__}: has no {', '.join(lacking)}")


def _check_numbers(task: type[Task] | TaskSpec) -> None:
    if isinstance(task.horizon, bool) or not isinstance(task.horizon, int) or task.horizon < 1:
        raise RequestError(f"task {task.id!r}: horizon {task.horizon!r}, must be a number of steps above 0")
    if task.horizon > LONGEST:
        raise RequestError(f"task {task.id!r}: horizon {task.horizon:_}, must be at most {LONGEST:_} steps")
    if isinstance(task.version, bool) or not isinstance(task.version, int) or task.version < 0:
        raise RequestError(f"task {task.id!r}: version {task.version!r}, must be a whole number from 0")


def _sources(task_class: type[Task]) -> tuple[Path, ...]:
    """The task's own files, its parts', and what all tasks stand on."""
    folder = Path(__file__).parent
    own = [path for base in task_class.__mro__ if issubclass(base, Task) for path in file_of(base)]
    parts = [path for part in task_class.parts for path in get_task(part).sources]
    frame = [folder / "vector.py", *(folder / "tabletop" / name for name in FRAME)]
    return tuple(dict.fromkeys(own + parts + frame))


def file_of(found: Any) -> list[Path]:
    """The file in which a class or function is written; none where it was typed in."""
    try:
        path = Path(inspect.getfile(found))
    except (TypeError, OSError):
        return []
    return [path] if path.is_file() else []

"""Metrics of the user's own: of installed packages, of a module, or of a file."""

from __future__ import annotations

from inspect import isfunction, ismodule
from pathlib import Path

from etude.curriculum.agents.names import resolve_object
from etude.curriculum.imports import import_all
from etude.curriculum.metrics.registry import Metric, get_metric, known_metric, register_metric
from etude.envs.errors import RequestError
from etude.envs.plugins import load_plugins

GROUP = "etude.metrics"


def plugin_faults() -> tuple[str, ...]:
    """Load the metrics of installed packages, once a process; a line for each that cannot be loaded."""
    return load_plugins(GROUP, _take)


def add_metric(entry: str) -> str:
    """Make a metric known that a command asks for.

    Args:
        entry: the name of a registered one; or a function, `module:function` or `my.py:function`, which takes a
            StudyView, and is registered under its own name unless its module registers it.

    Returns:
        The metric's name.

    Raises:
        RequestError: there is no such metric or function.
    """
    module, colon, name = entry.rpartition(":")
    if entry.endswith(".py"):
        raise RequestError(f"--add {entry}: names no function of the file; {entry}:FUNCTION does")
    if not colon:
        return get_metric(entry).name
    if module.endswith(".py"):
        path = Path(module).absolute()
        if not path.stem.isidentifier():
            raise RequestError(f"--add {entry}: the file's name, {path.stem}, is no name in Python, as my_metrics is")
        import_all([str(path)], "--add")
        module = path.stem
    return _register(resolve_object(f"{module}:{name}", "--add"), entry)


def _take(found: object) -> None:
    """What an entry point names: a module, which registers its metrics itself, or a function."""
    if isfunction(found):
        _register(found, f"{found.__module__}:{found.__name__}")
    elif not ismodule(found):
        raise RequestError(f"{found!r} is no metric; name a function of a StudyView, or its module alone")


def _register(function: object, source: str) -> str:
    if not isfunction(function):
        raise RequestError(f"--add {source}: is {type(function).__name__}, must be a function of a StudyView")
    known = known_metric(function)
    if known is None:
        known = register_metric(Metric(function.__name__, function, "core", "none", source))
    return known.name

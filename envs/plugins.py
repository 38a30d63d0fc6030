"""Tasks of installed packages: the entry points of the group `etude.tasks`, loaded when they are first needed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

GROUP = "etude.tasks"

_waiting: list[EntryPoint] | None = None
_faults: list[str] = []


def load_plugins(take: Callable[[object], None]) -> tuple[str, ...]:
    """Load what installed packages bring, once a process.

    Args:
        take: is given what each entry point names.

    Returns:
        A line for each that could not be loaded: its package, and why.
    """
    global _waiting
    if _waiting is None:
        _waiting = sorted(entry_points(group=GROUP), key=lambda entry: (_package(entry), entry.name))
    while _waiting:  # One may look up a task of another, which then is loaded inside it.
        entry = _waiting.pop(0)
        try:
            take(entry.load())
        except (Exception, SystemExit) as error:
            reason = " ".join(str(error).split()) or "no reason given"
            place = f"package {_package(entry)}: {GROUP} entry point {entry.name} = {entry.value}"
            _faults.append(f"{place}: {type(error).__name__}: {reason}")
    return tuple(_faults)


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "without a name"

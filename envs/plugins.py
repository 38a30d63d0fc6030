"""What installed packages bring: the entry points of a group, `etude.tasks` say, loaded when they are first needed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

_waiting: dict[str, list[EntryPoint]] = {}
_faults: dict[str, list[str]] = {}


def load_plugins(group: str, take: Callable[[object], None]) -> tuple[str, ...]:
    """Load what installed packages bring under a group, once a process.

    Args:
        group: of their entry points.
        take: is given what each entry point names.

    Returns:
        A line for each that could not be loaded: its package, and why.
    """
    if group not in _waiting:
        _waiting[group] = sorted(entry_points(group=group), key=lambda entry: (_package(entry), entry.name))
    faults = _faults.setdefault(group, [])
    while _waiting[group]:  # One may look up a task of another, which then is loaded inside it.
        entry = _waiting[group].pop(0)
        try:
            take(entry.load())
        except (Exception, SystemExit) as error:
            reason = " ".join(str(error).split()) or "no reason given"
            place = f"package {_package(entry)}: {group} entry point {entry.name} = {entry.value}"
            faults.append(f"{place}: {type(error).__name__}: {reason}")
    return tuple(faults)


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "without a name"

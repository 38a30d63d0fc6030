"""`key=value` changes to a suite: dotted keys, numbers for places in a list, values in YAML."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from etude.curriculum.library import read_agent
from etude.curriculum.yaml_text import parse
from etude.envs.errors import RequestError


@dataclass(frozen=True)
class Override:
    """One change: `agent.parameters.learning_rate=3e-4` sets (agent, parameters, learning_rate) to 0.0003."""

    path: tuple[str, ...]
    value: Any

    @classmethod
    def parse(cls, text: str) -> "Override":
        """The change that one argument of the command line asks for.

        Raises:
            RequestError: it is not `key=value`, or the value is not YAML.
        """
        key, equals, value = text.partition("=")
        path = tuple(key.strip().split("."))
        if not equals or not all(path):
            raise RequestError(
                f"{text!r:.60} is not an override; write key=value, as in seeds=[0,1] or evaluation.every=4096"
            )
        try:
            return cls(path, parse(value))
        except ValueError as error:
            raise RequestError(f"{key}: {value!r:.60} is not a YAML value: {error}") from None


def override(settings: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """A copy of a suite's settings with changes made to it, the choice of the agent first, the last of a kind winning.

    An agent given by name is replaced by what its file holds, so that its keys can be changed. Another algorithm
    drops the parameters that the file gives for the first one; tasks left out take their budgets with them.

    Raises:
        RequestError: a change that is not `key=value`, or whose key leads through something that holds no keys.
    """
    settings = _with_agent(copy.deepcopy(settings))
    tasks = _names(settings.get("tasks"))
    parsed = [Override.parse(text) for text in changes]
    for change in sorted(parsed, key=lambda change: change.path not in {("agent",), ("agent", "algorithm")}):
        if change.path[0] == "budget" and len(change.path) > 1 and isinstance(settings.get("budget"), int | float):
            settings["budget"] = {"default": settings["budget"]}
        if change.path == ("agent", "algorithm") and isinstance(settings.get("agent"), dict):
            if settings["agent"].get("algorithm") != change.value:
                settings["agent"].pop("parameters", None)
        _set(settings, change.path, change.value, ())
        settings = _with_agent(settings)
        if change.path[0] == "tasks" and isinstance(settings.get("budget"), dict):
            for task in tasks - _names(settings["tasks"]):
                settings["budget"].pop(task, None)
    return settings


def _names(tasks: Any) -> set[str]:
    return {task for task in tasks if isinstance(task, str)} if isinstance(tasks, list) else set()


def _with_agent(settings: dict[str, Any]) -> dict[str, Any]:
    agent = settings.get("agent")
    return settings | {"agent": read_agent(agent)} if isinstance(agent, str) else settings


def _set(holder: Any, path: tuple[str, ...], value: Any, above: tuple[str, ...]) -> None:
    """Set what a path names inside nested dicts and lists; mappings on the way are made where they are missing."""
    key, rest = path[0], path[1:]
    where = ".".join((*above, key))
    if isinstance(holder, list):
        if not key.isdecimal() or int(key) >= len(holder):
            right = f"its places are 0 to {len(holder) - 1}" if holder else "give the whole list"
            raise RequestError(f"{where}: the list {'.'.join(above)} has no such place; {right}")
        place: Any = int(key)
    elif isinstance(holder, dict):
        place = key
    else:
        raise RequestError(f"{where}: {'.'.join(above)} is {holder!r:.60}, which holds no keys")
    if not rest:
        holder[place] = value
        return
    if isinstance(holder, dict) and holder.get(key) is None:
        holder[key] = {}
    _set(holder[place], rest, value, (*above, key))

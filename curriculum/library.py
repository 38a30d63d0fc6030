"""The YAML files that come with the package, suites, agents and profiles in `configs/`, and a user's own."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import etude.configs
from etude.curriculum.yaml_text import parse
from etude.envs.errors import RequestError, nearest

_CONFIGS = Path(next(iter(etude.configs.__path__)))
_LARGEST = 1_000_000


def names(kind: str) -> list[str]:
    """The names of the files of a kind, `suites`, `agents` or `profiles`."""
    return sorted(path.stem for path in (_CONFIGS / kind).glob("*.yaml"))


def find_suite(name_or_path: str) -> Path:
    """The file of a suite: of ours by its name, or any file by its path (one with a `/` or ending in `.yaml`).

    Raises:
        RequestError: there is none; the nearest names.
    """
    return find_file("suites", name_or_path)


def find_file(kind: str, name_or_path: str) -> Path:
    """The file of a suite or a profile: of ours by its name, or any file by its path.

    Raises:
        RequestError: there is none; the nearest names.
    """
    path = Path(name_or_path)
    if not (os.sep in name_or_path or name_or_path in {".", ".."} or path.suffix in {".yaml", ".yml"}):
        path = _CONFIGS / kind / f"{name_or_path}.yaml"
    if not os.path.isfile(path):
        what = kind.removesuffix("s")
        there = f"a folder, not a {what}'s YAML file" if os.path.isdir(path) else f"there is no such {what}"
        own = f"{name_or_path}.yaml"
        right = f"did you mean {own}?" if os.path.isfile(own) else nearest(path.stem, names(kind))
        raise RequestError(f"{shortened(name_or_path)}: {there}; {right}")
    return path


def read_agent(name: str) -> dict[str, Any]:
    """The mapping in `configs/agents/<name>.yaml`.

    Raises:
        RequestError: there is no such file; the nearest names.
    """
    if name not in names("agents"):
        raise RequestError(f"agent: there is no agent {name!r:.60}; {nearest(name.lower(), names('agents'))}")
    return read_mapping(_CONFIGS / "agents" / f"{name}.yaml")


def read_mapping(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file.

    Raises:
        RequestError: the file cannot be read, or holds something else.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise RequestError(f"{path}: larger than {_LARGEST:_} bytes, which no suite is")
        value = parse(path.read_text(encoding="utf-8"))
    except RequestError:
        raise
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise RequestError(f"{path}: not YAML that can be read here: {error}") from None
    if not isinstance(value, dict):
        found = {list: "a list", type(None): "nothing"}.get(type(value), f"{value!r:.60}")
        raise RequestError(f"{path}: holds {found}, not a mapping from keys to values")
    return value


def absolute_imports(entries: Iterable[Any], folder: Path) -> list[Any]:
    """A suite's imports with the files among them, those ending in `.py`, made absolute from a folder."""
    return [str((folder / e).absolute()) if isinstance(e, str) and e.endswith(".py") else e for e in entries]


def shortened(path: str) -> str:
    """A path as a message shows it: whole, unless no one would read it."""
    return path if len(path) <= 200 else f"{path[:57]}..."

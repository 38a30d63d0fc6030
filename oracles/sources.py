"""The source files that a task's references depend on, followed from import to import."""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("etude.envs.tabletop", "etude.oracles", "etude.tabletop")


def closure(paths: Iterable[Path], packages: Iterable[str] = PACKAGES) -> list[Path]:
    """The files, and the modules they import from the packages or beside themselves, and so on; sorted.

    A package's `__init__` gathers and registers, so it is not followed.

    Args:
        paths: where to begin; a file that is not Python imports nothing.
        packages: names of the packages to follow.
    """
    found: set[Path] = set()
    waiting = [path.resolve() for path in paths]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [] if path.suffix != ".py" else _imported(path, tuple(packages))
    return sorted(found)


def digest(paths: Iterable[Path]) -> str:
    """SHA-256 of the files' contents, whatever their order and place."""
    contents = sorted(hashlib.sha256(path.read_bytes()).digest() for path in paths)
    return hashlib.sha256(b"".join(contents)).hexdigest()


@functools.cache
def _imports(content: bytes) -> list[ast.Import | ast.ImportFrom]:
    """The imports of a file; the tasks of a suite have most of their files in common, and parsing takes the time."""
    return [node for node in ast.walk(ast.parse(content)) if isinstance(node, ast.Import | ast.ImportFrom)]


def _imported(path: Path, packages: tuple[str, ...]) -> Iterator[Path]:
    for node in _imports(path.read_bytes()):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif not node.level:
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            beside = [folder.with_suffix(".py"), *(folder / f"{alias.name}.py" for alias in node.names)]
            yield from (file.resolve() for file in beside if file.is_file())
            continue
        for name in names:
            sibling = path.with_name(f"{name.partition('.')[0]}.py")
            if sibling.is_file():
                yield sibling.resolve()
            if any(name == package or name.startswith(f"{package}.") for package in packages):
                yield from _file(name)


def _file(module: str) -> Iterator[Path]:
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return
    if spec and spec.origin and spec.origin.endswith(".py") and not spec.origin.endswith("__init__.py"):
        yield Path(spec.origin).resolve()

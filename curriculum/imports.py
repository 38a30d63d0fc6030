"""A suite's `imports`: modules or files of the user's that register tasks, agents, methods or metrics."""

import ast
import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from etude.envs.errors import RequestError, nearest

_files: dict[str, ModuleType] = {}
_folders: set[str] = set()


def import_all(entries: Iterable[str], key: str = "imports") -> None:
    """Import each entry, once a process: a file by its absolute path ending in `.py`, or a module by its name.

    `module:Class` names a task that is registered too, unless its module did so.

    Args:
        entries: files and modules.
        key: where they were named, for what is said of them.

    Raises:
        RequestError: one cannot be imported; the entry, and where and why it failed.
    """
    _see_current_folder()
    for entry in entries:
        try:
            if entry.endswith(".py"):
                _import_file(Path(entry))
            elif ".py:" in entry or not all(part.isidentifier() for part in entry.replace(":", ".", 1).split(".")):
                raise RequestError("neither a module's name nor a file ending in .py, as in lab, lab:Task or lab.py")
            else:
                _import_module(*entry.split(":"))
        except RequestError as error:
            raise RequestError(f"{key}: {entry or repr(entry)}: {error}") from error
        except (Exception, SystemExit) as error:
            reason = " ".join(str(error).split()) or "no reason given"
            raise RequestError(f"{key}: {entry}: {type(error).__name__}: {reason}") from error


def find_module(name: str) -> ModuleType:
    """The module of that name: a file among the imports, by its stem, or one that can be imported.

    The current folder is looked in last, so that nothing in it hides an installed package.
    """
    _see_current_folder()
    return _files.get(name) or importlib.import_module(name)


def _see_current_folder() -> None:
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    _folders.add(here)


def _import_module(name: str, attribute: str | None = None) -> None:
    from etude.envs import take_task

    module = importlib.import_module(name)
    if attribute is None:
        return
    if not hasattr(module, attribute):
        public = [known for known in vars(module) if not known.startswith("_")]
        raise RequestError(f"{name} has no {attribute}" + (f"; {nearest(attribute, public)}" if public else ""))
    take_task(getattr(module, attribute))


def _import_file(path: Path) -> None:
    """Import a file as the module that others import by its stem, or, where that finds something else, on its own.

    What stands beside it can be imported from then on, unless something else has its name.

    Raises:
        RequestError: there is no such file, or it would import what stands beside another file in the place of its own.
    """
    if not path.is_file():
        raise RequestError("there is no such file")
    if (beside := str(path.parent)) not in sys.path:
        sys.path.append(beside)
    _require_neighbours(path)
    _folders.add(beside)
    found = importlib.util.find_spec(path.stem) if path.stem.isidentifier() else None
    if found is not None and found.origin == str(path):
        _files[path.stem] = importlib.import_module(path.stem)
        return
    name = f"etude_import_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    _files[path.stem] = sys.modules[name]


def _require_neighbours(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in (name.partition(".")[0] for name in names):
            own, found = path.with_name(f"{name}.py"), None
            if own.is_file():
                found = importlib.util.find_spec(name)
            if found is None or found.origin is None or str(Path(found.origin).parent) not in _folders:
                continue
            if not own.samefile(found.origin):
                raise RequestError(f"imports {name} from beside it, but {found.origin} has that name; rename one")

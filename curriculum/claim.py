"""A study's folder is claimed by the suite that fills it, and by no other."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from etude.curriculum.saves import make_folder, write_text
from etude.curriculum.suite import Suite, read_suite
from etude.envs.errors import RequestError

_MAY_GROW = ("seeds", "regimes")
_MAY_GO_ON = ("orders",)  # their runs are named by their places
_MAY_CHANGE = ("wandb",)
_OWN = (".suite.*.aside.yaml", ".holder", "..holder.*.aside")  # what a claim that was cut short leaves, or is held by


def claim_folder(suite: Suite, study: Path, check: Callable[[], object] = lambda: None) -> None:
    """Make a study's folder, or go on with the one that is there, and write the resolved suite into it.

    An existing study may be given more seeds, regimes and orders, and other W&B settings; all else must be as it was.

    Args:
        suite: checked already.
        study: its folder.
        check: called before anything is written; raises what else there is against going on with an existing study.

    Raises:
        RequestError: the folder holds something else, or a study that differs, by the keys that do; nothing is changed.
    """
    check_folder(study)
    if (study / "suite.yaml").exists():
        _compare(suite, study)
        check()
    try:
        make_folder(study)
        write_text(study / "suite.yaml", suite.to_yaml())
    except OSError as error:
        raise _refusal(study, error) from error


def check_folder(study: Path) -> None:
    """Whether a folder is a study's, or can become one; nothing is made.

    Raises:
        RequestError: it holds something else, or cannot be made.
    """
    try:
        if study.exists():
            _check_holdings(study)
            return
        place = next(parent for parent in study.absolute().parents if parent.exists())
        if not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _refusal(study, error) from error


def holds(suite: Suite, study: Path) -> bool:
    """Whether a folder is a study of exactly this suite, which was checked when it was begun."""
    try:
        return (study / "suite.yaml").read_text() == suite.to_yaml()
    except (OSError, ValueError):
        return False


def _refusal(study: Path, error: OSError) -> RequestError:
    return RequestError(f"{study}: cannot be a study's folder: {error.strerror}; choose another --out")


def _check_holdings(study: Path) -> None:
    if not study.is_dir():
        raise RequestError(f"{study}: a file, not a folder; choose another --out")
    if all(any(path.match(own) for own in _OWN) for path in study.iterdir()):
        return
    if not (study / "suite.yaml").is_file():
        raise RequestError(f"{study}: holds something else, not a study; choose another --out")


def _compare(suite: Suite, study: Path) -> None:
    differing = []
    there, here = _flat(read_suite(study)), _flat(suite)
    for key in sorted(there.keys() | here.keys()):
        old, new = there.get(key), here.get(key)
        if key in _MAY_GROW and isinstance(old, tuple) and set(old) <= set(here[key]):
            continue
        if key in _MAY_GO_ON and isinstance(old, tuple) and here[key][: len(old)] == old:
            continue
        if old != new and key.split(".")[0] not in _MAY_CHANGE:
            differing.append(f"{key} {_shown(old)}, not {_shown(new)}")
    if differing:
        more = [f"{len(differing) - 3} more"] if len(differing) > 3 else []
        named = "; ".join([*differing[:3], *more])
        raise RequestError(f"{study}: holds another study, with {named}; choose another --out")


def _flat(suite: Suite) -> dict[str, Any]:
    """A suite's values by their dotted keys; of imported files the names alone, since a study may be moved."""
    flat: dict[str, Any] = {}

    def enter(value: Any, path: tuple[str, ...]) -> None:
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                enter(inner, (*path, key))
        else:
            flat[".".join(path)] = value

    enter(suite.model_dump(), ())
    flat["imports"] = tuple(Path(entry).name for entry in suite.imports)
    return flat


def _shown(value: Any) -> str:
    if value is None:
        return "unset"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."

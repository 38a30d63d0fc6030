"""Files and folders that are either whole or not there: written aside, then renamed."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Make or replace a file in one step, so that a reader never meets half of it."""
    aside = _aside(path)
    with naming(path):
        aside.write_text(text, encoding="utf-8")
        os.replace(aside, path)


def write_file(path: Path, write: Callable[[Path], None]) -> None:
    """Make or replace a file in one step; where writing it fails, nothing is left.

    Args:
        path: where it shall be.
        write: makes it, at a path with the same suffix.
    """
    aside = path.with_name(f".{path.stem}.aside{path.suffix}")
    try:
        with naming(path):
            write(aside)
            os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def write_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Make a folder in one step, fsynced, in the place of one that is there.

    Args:
        folder: where it shall be.
        write: fills an empty folder.
    """
    aside = _aside(folder)
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    with naming(folder):
        write(aside)
        for path in sorted(aside.rglob("*")):
            sync(path)
        sync(aside)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(aside, folder)
    sync(folder.parent)


def write_save(saves: Path, step: int, write: Callable[[Path], None]) -> None:
    """Make the save of a step, then remove the older ones: at every moment one of them is whole."""
    write_folder(saves / str(step), write)
    for other in saves.iterdir():
        if other.name != str(step):
            shutil.rmtree(other)


def newest_save(saves: Path) -> Path | None:
    """The folder of the save to go on from."""
    whole = [path for path in saves.glob("*") if path.name.isdigit()]
    return max(whole, key=lambda path: int(path.name), default=None)


def sync(path: Path) -> None:
    """Have a file or folder written to the disk before going on."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the path in an OSError that names none, as that of a write to a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.aside")

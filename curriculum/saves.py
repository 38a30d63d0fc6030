"""Files and folders that are either whole or not there: written aside, then renamed."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

KEPT = 2
"""Saves of a run: the newest, and the one before for where the newest is damaged later."""

CHECKSUMS = "checksums.json"


def write_text(path: Path, text: str, lasting: bool = True) -> None:
    """Make or replace a file in one step, so that a reader never meets half of it.

    Args:
        path: where it shall be.
        text: what it shall hold.
        lasting: have it on the disk before going on; without, a power cut may leave it empty.
    """
    aside = _aside(path)
    try:
        with naming(path):
            aside.write_text(text, encoding="utf-8")
            if lasting:
                sync(aside)
            os.replace(aside, path)
            if lasting:
                sync(path.parent)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


def write_file(path: Path, write: Callable[[Path], None]) -> None:
    """Make or replace a file in one step; where writing it fails, nothing is left.

    Args:
        path: where it shall be.
        write: makes it, at a path with the same suffix.
    """
    aside = _aside(path)
    try:
        with naming(path):
            write(aside)
            os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def try_file(path: Path) -> None:
    """Whether `write_file` could begin, before there is something to write; leaves nothing.

    Raises:
        OSError: it could not.
    """
    aside = _aside(path)
    with naming(path):
        aside.touch()
        aside.unlink()


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are not there, and have their names on the disk before going on."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing:
        sync(made.parent)


def write_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Make a folder in one step, fsynced, in the place of one that is there.

    Args:
        folder: where it shall be.
        write: fills an empty folder.
    """
    make_folder(folder.parent)
    aside = _aside(folder)
    remove(aside)
    aside.mkdir()
    with naming(folder):
        sync(folder.parent.parent)  # Whoever made the one above may have been killed before its name was on the disk.
        write(aside)
        for path in sorted(aside.rglob("*")):
            sync(path)
        sync(aside)
    remove(folder)
    os.replace(aside, folder)
    sync(folder.parent)


def remove(path: Path) -> None:
    """Remove a folder with all that is in it, or a file; or nothing, where there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_save(saves: Path, step: int, write: Callable[[Path], None]) -> None:
    """Make the save of a step with the checksums of its files, then remove all but it and the one before."""

    def write_with_checksums(folder: Path) -> None:
        write(folder)
        (folder / CHECKSUMS).write_text(json.dumps(_checksums(folder), indent=1) + "\n")

    write_folder(saves / str(step), write_with_checksums)
    for other in (*_newest_first(saves)[KEPT:], *saves.glob(".*.aside")):  # One process saves here at a time.
        remove(other)


def find_save(saves: Path) -> tuple[Path | None, dict[Path, str]]:
    """The folder of the save to go on from, the newest that is whole, and the newer ones with what is wrong in them."""
    damaged: dict[Path, str] = {}
    for save in _newest_first(saves):
        fault = _fault_of(save)
        if fault is None:
            return save, damaged
        damaged[save] = fault
    return None, damaged


def newest_step(saves: Path) -> int:
    """The step of the newest save, whole or not; 0 where there is none."""
    return max((int(path.name) for path in _newest_first(saves)), default=0)


def _newest_first(saves: Path) -> list[Path]:
    return sorted((path for path in saves.glob("*") if path.name.isdecimal()), key=lambda path: -int(path.name))


def _fault_of(save: Path) -> str | None:
    """What tells a save from the one that was written."""
    try:
        written = dict(json.loads((save / CHECKSUMS).read_bytes()))
        found = _checksums(save)
    except (OSError, ValueError, TypeError):
        return f"{CHECKSUMS} cannot be read"
    differing = sorted(name for name in written.keys() | found.keys() if written.get(name) != found.get(name))
    return f"{differing[0]} is not as it was written" if differing else None


def _checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below a folder but the checksums' own."""
    checksums = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path != folder / CHECKSUMS:
            with path.open("rb") as file:
                checksums[str(path.relative_to(folder))] = hashlib.file_digest(file, "sha256").hexdigest()
    return checksums


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
    """Where this process writes it aside, as another may at the same time; what dead ones have left is removed."""
    begin, end = f".{path.stem}.{os.uname().nodename}-", f".aside{path.suffix}"
    for left in path.parent.iterdir():
        process = left.name.removeprefix(begin).removesuffix(end)
        if left.name == f"{begin}{process}{end}" and process.isdecimal() and not _is_alive(int(process)):
            remove(left)
    return path.with_name(f"{begin}{os.getpid()}{end}")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True

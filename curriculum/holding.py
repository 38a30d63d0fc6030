"""Who is at work in a folder, on this machine or on another that shares it.

On one machine a lock tells it, which ends with its process. Other machines see no lock, but a file `.holder` that says
who it is and is touched every ten seconds: one not touched for a minute is of a machine or process that has died. So is
one of a time to come, as it stands there after a clock was set back.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from etude.curriculum.saves import write_text

BEAT = 10.0
"""Seconds between two touches."""

STALE = 60.0
"""Seconds without one after which a holder on another machine counts as gone; more than its clock may be wrong by."""

LOOKS = 20
"""Times that a lock is tried, a fiftieth of a second apart."""


@dataclass
class Hold:
    """A folder held; `lost` is who has taken it since, as another machine may that took this one for dead."""

    lost: str | None = None


@contextmanager
def hold(folder: Path, patience: float = 0.0) -> Iterator[Hold | None]:
    """Hold a folder as long as the block lasts or the process lives.

    Args:
        folder: one that is there.
        patience: seconds to wait for another holder to be gone.

    Yields:
        The hold, or None where another process has the folder.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        waited_until = time.monotonic() + patience
        while not (got := _lock(handle) and _other_machine(folder) is None) and time.monotonic() < waited_until:
            time.sleep(0.2)
        if not got:
            yield None
            return
        with _beating(folder / ".holder") as held:
            yield held
    finally:
        os.close(handle)


def holder(folder: Path) -> str | None:
    """Who holds a folder now, in words; None where nobody does."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(folder / ".holder").get("who", "another process")
    finally:
        os.close(handle)
    return _other_machine(folder)


def _lock(handle: int) -> bool:
    """Lock it, where need be after the moment in which another process only looks whether it is held."""
    for look in range(LOOKS):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(0.02 if look < LOOKS - 1 else 0)
    return False


def _other_machine(folder: Path) -> str | None:
    """Who holds the folder from another machine, whose lock is not seen here."""
    found = _read(folder / ".holder")
    alive = found and found["host"] != os.uname().nodename and abs(time.time() - float(found["touched"])) < STALE
    return found["who"] if alive else None


def _read(path: Path) -> dict[str, str]:
    """What a holder says of itself and when it was touched; nothing where there is none, or half of it.

    The file is opened before its time is asked for, since a network file system may tell an old one otherwise.
    """
    with suppress(OSError, ValueError, KeyError, TypeError):
        with path.open() as file:
            said = json.load(file)
            return {"who": said["who"], "host": said["host"], "touched": str(os.fstat(file.fileno()).st_mtime)}
    return {}


@contextmanager
def _beating(path: Path) -> Iterator[Hold]:
    host, job = os.uname().nodename, os.environ.get("SLURM_JOB_ID")
    who = f"process {os.getpid()} on {host}" + (f", Slurm job {job}" if job else "")
    mine = json.dumps({"who": who, "host": host, "since": time.time_ns()})
    held, ended = Hold(), threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT):
            with suppress(OSError):  # The file server may be away for a while.
                if not path.exists() or path.read_text() != mine:
                    held.lost = _read(path).get("who", "another process")
                    return
                os.utime(path)

    try:
        write_text(path, mine)
    except OSError:  # Nothing can be written here, as whoever does the work is about to find; the lock holds anyway.
        yield held
        return
    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield held
    finally:
        ended.set()
        thread.join()
        with suppress(OSError):
            if path.read_text() == mine:
                path.unlink()

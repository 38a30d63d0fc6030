"""The console script, outside the package so that its signals are set before anything slow is imported."""

import io
import os
import signal
import sys

_INTERRUPTED = 130


def main() -> int:
    """Run `etude`; Ctrl-C and SIGTERM end it with one line from the first moment on.

    A command that has something to put in order changes their handlers. What the output's encoding lacks is printed
    as `?`.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    from etude.curriculum.cli import main as command

    return command()


def _stop(number: int, frame: object) -> None:
    """End here and now: an exception could be swallowed where an import is under way."""
    os.write(2, b"etude: interrupted\n")
    os._exit(_INTERRUPTED)

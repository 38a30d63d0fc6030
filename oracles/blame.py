"""Failures of a user's own code, told as whose they are."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from etude.envs import RequestError, Task
from etude.envs.errors import RunError, in_words
from etude.oracles.oracle import Oracle


@contextmanager
def told_of(other: str | None = None) -> Iterator[None]:
    """Tell a failure in the block as that of the task's method or the oracle it passed through first.

    Args:
        other: whose it is where it passed through neither; such a failure is left as it is if None.

    Raises:
        RunError: in place of the failure.
    """
    try:
        yield
    except (RequestError, RunError):
        raise
    except (Exception, SystemExit) as error:
        whose = _owner(error) or other
        if whose is None:
            raise
        raise RunError(f"{whose} raised {in_words(error)} (ETUDE_TRACEBACK=1 shows where)") from error


def _owner(error: BaseException) -> str | None:
    for frame, _ in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        if isinstance(first, Task):
            return f"task {first.id}: {code.co_name}"
        if isinstance(first, Oracle):
            return f"oracle of {first.task}"
    return None

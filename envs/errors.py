"""The two ways a command ends badly, and the nearest right name for a wrong one."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches


class RequestError(ValueError):
    """The request was wrong: one line naming the key, the value and what would be right. Exit code 2."""


class RunError(RuntimeError):
    """A run could not be finished: one line naming the task, the step and the cause. Exit code 1."""


def nearest(name: str, options: Iterable[str], count: int = 3) -> str:
    """The options closest to a misspelt name, as the end of a message.

    Args:
        name: what was asked for.
        options: the names that exist.
        count: how many to suggest at the most.

    Returns:
        `"did you mean a, b?"`, or `"known: a, b, c"` where nothing is close.
    """
    options = sorted(options)
    close = get_close_matches(name, options, n=count, cutoff=0.5)
    return f"did you mean {', '.join(close)}?" if close else f"known: {', '.join(options)}"


def in_words(error: BaseException) -> str:
    """An error that is not ours in a line: its type, and what it says, if anything."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


@contextmanager
def retold(what: str, fault: Callable[[str], RunError]) -> Iterator[None]:
    """Tell a failure of a user's own code in the block, which ours have no part in, as a line of `fault`'s.

    Args:
        what: which of its methods is called.
        fault: the error that says where it was, given what went wrong.
    """
    try:
        yield
    except (RequestError, RunError):
        raise
    except (Exception, SystemExit) as error:
        raise fault(f"{what} raised {in_words(error)} (ETUDE_TRACEBACK=1 shows where)") from error

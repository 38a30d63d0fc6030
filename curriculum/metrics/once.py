"""What was computed of a study once is kept with it, for the next who asks the same."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np


class Keeps(Protocol):
    """Something that keeps what functions under `once` have returned of it."""

    @property
    def found(self) -> dict[tuple[Any, ...], Any]:
        """By function and arguments."""


K = TypeVar("K", bound=Keeps)
P = ParamSpec("P")
T = TypeVar("T")


def once(function: Callable[Concatenate[K, P], T]) -> Callable[Concatenate[K, P], T]:
    """Keep what a function of a view or of curves, and of hashable arguments, returns: a decorator.

    What is kept is shared, so an array is made read-only.
    """
    defaults = function.__defaults__ or ()

    @wraps(function)
    def remembered(of: K, /, *given: P.args, **named: P.kwargs) -> T:
        key = (function, *given, *defaults[len(given) :], *named.items())
        if key not in of.found:
            of.found[key] = function(of, *given, **named)
            if isinstance(of.found[key], np.ndarray):
                of.found[key].setflags(write=False)
        result: T = of.found[key]
        return result

    return remembered

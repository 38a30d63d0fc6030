"""What every test may rely on: the registries are as they were imported, whatever another test registered."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import gymnasium
import pytest

from etude.envs import registry as tasks
from etude.oracles import registry as oracles


@contextmanager
def kept_registries() -> Iterator[None]:
    """Let tasks and oracles be registered, and forget them again, and where they were imported from."""
    known = set(gymnasium.registry)
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((tasks, "_specs"), (tasks, "_classes"), (oracles, "_classes"), (oracles, "_floors")):
            patch.setattr(module, name, dict(getattr(module, name)))
        patch.setattr(sys, "path", list(sys.path))
        yield
    for name in set(gymnasium.registry) - known:
        del gymnasium.registry[name]


@pytest.fixture(autouse=True)
def own_registries() -> Iterator[None]:
    """The registered tasks and oracles, to be changed by one test alone."""
    with kept_registries():
        yield

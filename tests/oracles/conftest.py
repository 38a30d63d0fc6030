from collections.abc import Callable
from typing import Any

import pytest

from etude.oracles import measure_references, registry

EPISODES = 24


@pytest.fixture
def own_registry() -> dict[str, Any]:
    """The registered oracles, to be changed by one test alone, as all registries are."""
    return registry._classes


@pytest.fixture(scope="session")
def references() -> Callable[[str], dict[str, Any]]:
    """A task's references, measured once for all tests."""
    measured: dict[str, dict[str, Any]] = {}

    def of(task: str) -> dict[str, Any]:
        if task not in measured:
            measured[task] = measure_references(task, EPISODES)
        return measured[task]

    return of

"""What every test may rely on: the registries are as they were imported, whatever another test registered."""

from collections.abc import Iterator

import gymnasium
import pytest

from etude.envs import registry as tasks
from etude.oracles import registry as oracles


@pytest.fixture(autouse=True)
def own_registries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The registered tasks and oracles, to be changed by one test alone."""
    for module, name in ((tasks, "_specs"), (tasks, "_classes"), (oracles, "_classes"), (oracles, "_floors")):
        monkeypatch.setattr(module, name, dict(getattr(module, name)))
    known = set(gymnasium.registry)
    yield
    for name in set(gymnasium.registry) - known:
        del gymnasium.registry[name]

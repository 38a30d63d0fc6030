"""What every test may rely on: the registries are as they were imported, whatever another test registered."""

import pytest

from etude.envs import registry as tasks
from etude.oracles import registry as oracles


@pytest.fixture(autouse=True)
def own_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The registered tasks and oracles, to be changed by one test alone."""
    for module, name in ((tasks, "_specs"), (tasks, "_classes"), (oracles, "_classes")):
        monkeypatch.setattr(module, name, dict(getattr(module, name)))

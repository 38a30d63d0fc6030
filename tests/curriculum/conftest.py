from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from etude.curriculum.claim import claim_folder
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite

SMALL = {
    "name": "small",
    "tasks": ["reach", "press-button"],
    "budget": 128,
    "seeds": [0],
    "evaluation": {"every": 64, "episodes": 2},
    "agent": {"algorithm": "PPO", "environments": 4, "parameters": {"n_steps": 16, "batch_size": 32, "n_epochs": 2}},
    "wandb": {"mode": "disabled"},
}
MakeStudy = Callable[..., StudyFolder]


def small_suite(**changes: Any) -> Suite:
    """A suite whose runs take a second or two: rollouts of 64 steps, two tasks of 128."""
    return Suite.model_validate(SMALL | changes)


@pytest.fixture
def make_study(tmp_path: Path) -> MakeStudy:
    """Makes a study's folder of the small suite, with changes to its keys."""

    def make(folder: str = "study", **changes: Any) -> StudyFolder:
        claim_folder(small_suite(**changes), tmp_path / folder)
        return StudyFolder(tmp_path / folder)

    return make


@pytest.fixture(scope="session")
def faults() -> ModuleType:
    """The script `benchmarks/faults.py`, with its brief suite."""
    spec = spec_from_file_location("faults", Path(__file__).parents[2] / "benchmarks" / "faults.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def suite_of() -> Callable[..., Suite]:
    """The small suite, with changes to its keys."""
    return small_suite

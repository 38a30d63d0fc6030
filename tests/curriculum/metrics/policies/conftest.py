"""Small real studies, trained once a session, whose stored policies are measured."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from etude.curriculum.claim import claim_folder
from etude.curriculum.metrics.policies import observed, retrained
from etude.curriculum.runner import execute
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite
from etude.oracles import measure_references

SAC: dict[str, Any] = {"algorithm": "SAC", "environments": 4}
SAC |= {"parameters": {"learning_starts": 16, "batch_size": 16, "policy_kwargs": {"net_arch": [16, 16]}}}
TASKS = ["reach", "press-button", "open-drawer"]


@pytest.fixture(autouse=True, scope="module")
def less_to_play() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrained, "GRADIENT_STEPS", 128)
        patch.setattr(observed, "EPISODES", 8)
        yield


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory, suite_of: Callable[..., Suite]) -> Callable[..., Path]:
    """Trains the sequential runs of the small suite, with changes to its keys."""

    def train(**changes: Any) -> Path:
        suite = suite_of(regimes=["sequential"], **changes)
        study = StudyFolder(tmp_path_factory.mktemp("policies") / "study")
        claim_folder(suite, study.path)
        references = {task: measure_references(task, suite.evaluation.episodes) for task in suite.tasks}
        study.references.write_text(json.dumps(references))
        for seed in suite.seeds:
            execute(study.run(f"sequential-seed{seed}").path)
        return study.path

    return train


@pytest.fixture(scope="session")
def ppo_study(trained: Callable[..., Path]) -> Path:
    """Two seeds of three tasks; not to be changed."""
    return trained(tasks=TASKS, seeds=[0, 1])


@pytest.fixture(scope="session")
def sac_study(trained: Callable[..., Path]) -> Path:
    """One seed of two tasks; not to be changed."""
    return trained(agent=SAC, budget=64, evaluation={"every": 32, "episodes": 2})


@pytest.fixture
def copied(tmp_path: Path, ppo_study: Path) -> Path:
    """The PPO study, to be changed by one test, with what is known of it so far."""
    return shutil.copytree(ppo_study, tmp_path / "study")

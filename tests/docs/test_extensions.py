"""The examples of the pages on agents and methods, run as they stand there."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import yaml

from etude.curriculum.claim import claim_folder
from etude.curriculum.plan import plan_run
from etude.curriculum.records import read_evaluations
from etude.curriculum.runner import execute
from etude.curriculum.study import RunFolder, StudyFolder
from etude.curriculum.suite import load_suite
from tests.curriculum.conftest import SMALL

DOCS = Path(__file__).parent.parent.parent / "docs"
Run = Callable[..., RunFolder]


def example(page: str, word: str, language: str = "python") -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [block for block in blocks if word in block]
    return str(block)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(**changes: object) -> RunFolder:
        (tmp_path / "suite.yaml").write_text(yaml.safe_dump(SMALL | changes), encoding="utf-8")
        suite = load_suite(str(tmp_path / "suite.yaml"))
        study = StudyFolder(tmp_path / suite.method.replace(":", "-"))
        claim_folder(suite, study.path)
        execute(study.run("sequential-seed0").path)
        return study.run("sequential-seed0")

    return run


def test_the_agent_that_stands_still_has_flat_curves(tmp_path: Path) -> None:
    (tmp_path / "my_agents.py").write_text(example("agents.md", "class Still"))
    (tmp_path / "still.yaml").write_text(example("agents.md", "my_agents:Still", "yaml"))
    study = StudyFolder(tmp_path / "still")
    claim_folder(load_suite(str(tmp_path / "still.yaml")), study.path)
    done = study.run("sequential-seed0")
    execute(done.path)
    curves = read_evaluations(done.evaluations)
    assert len(curves) > 2
    assert all(e.returns == curves[0].returns for e in curves if e.task == "reach")


@pytest.mark.parametrize("method", ["pull-back", "my_methods:PullBack"])
def test_the_suite_of_the_method_that_pulls_back_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr("etude.curriculum.methods.method._methods", {})
    (tmp_path / "my_methods.py").write_text(example("methods.md", "class PullBack"))
    (tmp_path / "pull-back.yaml").write_text(example("methods.md", "method: pull-back", "yaml"))
    assert load_suite(str(tmp_path / "pull-back.yaml"), [f"method={method}"]).name == "pull-back"


def test_the_method_that_pulls_back_leaves_the_second_task_nearer_to_the_first(run: Run, tmp_path: Path) -> None:
    (tmp_path / "docs_methods.py").write_text(example("methods.md", "class PullBack").replace("1e-2", "1e+2"))
    drift = []
    for changes in ({"method": "pull-back", "imports": ["docs_methods.py"]}, {}):
        done = run(**changes)
        first, second = (torch.load(done.policy(step) / "policy.pt", weights_only=True) for step in (128, 256))
        drift.append(sum(float((second[name] - first[name]).norm()) for name in first))
    assert drift[0] < drift[1]


def test_a_stored_policy_acts_as_the_page_says(run: Run) -> None:
    done = run()
    text = example("agents.md", "load_policy(study")
    text = text.replace("studies/quick", str(done.study.path)).replace("286720", "256").replace("open-drawer", "reach")
    names: dict[str, object] = {}
    exec(text, names)
    assert getattr(names["actions"], "shape", None) == (4, 4)


def test_the_policy_that_the_page_loads_is_one_that_quick_stores() -> None:
    (step,) = re.findall(r"sequential-seed0/policies/(\d+)", example("agents.md", "load_policy(study"))
    assert int(step) in {segment.end for segment in plan_run(load_suite("quick"), "sequential").segments}

"""What a study records does not depend on how, with what beside it, or in which order its runs are executed."""

import functools
import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

from etude.curriculum import evaluator, joint, runner
from etude.curriculum.claim import claim_folder
from etude.curriculum.evaluator import Evaluator, task_envs
from etude.curriculum.launch import run_study
from etude.curriculum.plan import run_names
from etude.curriculum.runner import execute
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import load_suite

ETUDE = [sys.executable, "-c", "import sys; from etude.curriculum.cli import main; sys.exit(main())"]


def results(faults: ModuleType, study: Path) -> dict[str, bytes]:
    return {name: content for name, content in faults.contents(study).items() if name.startswith("runs/")}


@pytest.mark.slow
def test_a_study_is_the_same_bytes_with_any_workers_in_any_order_with_wandb_and_without_and_in_one_process(
    faults: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "suite").mkdir()
    path = str(faults.write_suite(tmp_path / "suite", "PPO"))
    suite = load_suite(path, ["seeds=[0,1]"])
    studies = [tmp_path / name for name in ("process", "one", "two", "four")]
    claim_folder(suite, studies[0])
    for name in reversed(run_names(suite)):
        execute(StudyFolder(studies[0]).run(name).path)
    changes = ["seeds=[0,1]", "wandb.mode=offline"]
    subprocess.run([*ETUDE, "run", path, *changes, f"--out={studies[1]}", "--jobs=1"], check=True, cwd=tmp_path)
    for jobs, study, changes in (
        (2, studies[2], ["seeds=[1,0]", "regimes=[scratch,sequential]"]),
        (4, studies[3], ["seeds=[0,1]"]),
    ):
        assert run_study(load_suite(path, changes), study, jobs, Console(file=io.StringIO())) == 0
    first, *others = [results(faults, study) for study in studies]
    assert len([name for name in first if name.endswith("evaluations.jsonl")]) == 4
    assert any("policies" in name for name in first) and any((studies[1] / "wandb").glob("offline-run-*"))
    for other in others:
        assert other == first


@pytest.mark.parametrize("agent", ["PPO", "SAC"])
def test_what_is_learnt_is_the_same_bytes_with_evaluation_at_another_interval_and_without(
    faults: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    (tmp_path / "suite").mkdir()
    path = str(faults.write_suite(tmp_path / "suite", agent))
    often, rarely, without = (StudyFolder(tmp_path / name).run("sequential-seed0") for name in ("a", "b", "c"))
    for run, every in ((often, 32), (rarely, 64), (without, 32)):
        if run is without:
            monkeypatch.setattr(Evaluator, "evaluate", lambda *_: [])
        claim_folder(load_suite(path, [f"evaluation.every={every}"]), run.study.path)
        execute(run.path)
    lines = [run.evaluations.read_bytes().count(b"\n") for run in (often, rarely, without)]
    assert lines[0] > lines[1] > lines[2] == 0
    first, *others = ((run.policy(128) / "policy.pt").read_bytes() for run in (often, rarely, without))
    assert others == [first, first]


def test_two_threads_of_the_simulator_make_the_same_bytes_as_one(
    faults: ModuleType, make_study: Callable[..., StudyFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (make_study(name).run("scratch-seed0") for name in ("one", "two"))
    execute(one.path)
    for module in (joint, runner, evaluator):
        monkeypatch.setattr(module, "task_envs", functools.partial(task_envs, threads=2))
    execute(two.path)
    assert results(faults, one.study.path) == results(faults, two.study.path)

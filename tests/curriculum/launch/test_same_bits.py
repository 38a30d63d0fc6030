"""What a study records does not depend on how, with what beside it, or in which order its runs are executed."""

import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from etude.curriculum import evaluator, joint, runner
from etude.curriculum.claim import claim_folder
from etude.curriculum.evaluator import Evaluator, task_envs
from etude.curriculum.launch.pool import Order, Pool
from etude.curriculum.runner import execute
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import load_suite
from tests.conftest import kept_registries

ETUDE = [sys.executable, "-c", "import sys; from etude.curriculum.cli import main; sys.exit(main())"]
AGENTS = ("PPO", "SAC")
RUNS = ("sequential-seed0", "scratch-seed0")


@pytest.fixture(scope="module")
def suites(faults: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The brief suite of each agent, whose tasks are registered from its first use to the last test here."""
    place = tmp_path_factory.mktemp("suites")
    for agent in AGENTS:
        (place / agent).mkdir()
    with kept_registries():
        yield {agent: str(faults.write_suite(place / agent, agent)) for agent in AGENTS}


@pytest.fixture(scope="module")
def here(suites: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, StudyFolder]:
    """A study of each agent, executed in this process."""
    place = tmp_path_factory.mktemp("here")
    for order in reversed(orders(suites, place)):
        execute(Path(order["run"]))
    return {agent: StudyFolder(place / agent) for agent in AGENTS}


def orders(suites: dict[str, str], place: Path) -> list[Order]:
    """The runs of a fresh study of each agent."""
    for agent, suite in suites.items():
        claim_folder(load_suite(suite), place / agent)
    return [{"run": str(StudyFolder(place / agent).run(name).path)} for agent in suites for name in RUNS]


def results(faults: ModuleType, study: StudyFolder) -> dict[str, bytes]:
    """What is recorded and learnt in the runs of seed 0."""
    found = {
        name: file
        for name, file in faults.contents(study.path).items()
        if name.startswith(tuple(f"runs/{run}/" for run in RUNS))
    }
    assert {f"runs/{run}/evaluations.jsonl" for run in RUNS} <= found.keys()
    assert {f"runs/{run}/policies/64/policy.pt" for run in RUNS} <= found.keys()
    return found


@pytest.mark.slow
def test_runs_are_the_same_bytes_with_one_two_and_four_workers_at_work_and_in_one_process(
    faults: ModuleType, suites: dict[str, str], here: dict[str, StudyFolder], tmp_path: Path
) -> None:
    for workers in (4, 2, 1):
        with Pool(workers) as pool:
            pool.ask_each(orders(suites, tmp_path / str(workers)))
    for agent in AGENTS:
        wanted = results(faults, here[agent])
        for workers in (4, 2, 1):
            assert results(faults, StudyFolder(tmp_path / str(workers) / agent)) == wanted


@pytest.mark.slow
def test_a_study_of_the_command_is_the_same_bytes_beside_other_seeds_in_another_order_and_with_wandb(
    faults: ModuleType, suites: dict[str, str], here: dict[str, StudyFolder], tmp_path: Path
) -> None:
    study = StudyFolder(tmp_path / "study")
    changes = ["seeds=[1,0]", "regimes=[scratch,sequential]", "wandb.mode=offline"]
    command = [*ETUDE, "run", suites["SAC"], *changes, f"--out={study.path}", "--jobs=2"]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert study.references.exists() and any((study.path / "wandb").glob("offline-run-*"))
    assert results(faults, study) == results(faults, here["SAC"])


@pytest.mark.parametrize("agent", AGENTS)
def test_what_is_learnt_is_the_same_bytes_with_evaluation_at_another_interval_and_without(
    suites: dict[str, str], here: dict[str, StudyFolder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    often, rarely, without = here[agent], StudyFolder(tmp_path / "rarely"), StudyFolder(tmp_path / "without")
    for study in (rarely, without):
        if study is without:
            monkeypatch.setattr(Evaluator, "evaluate", lambda *_: [])
        claim_folder(load_suite(suites[agent], ["evaluation.every=64"]), study.path)
        execute(study.run("sequential-seed0").path)
    runs = [study.run("sequential-seed0") for study in (often, rarely, without)]
    lines = [run.evaluations.read_bytes().count(b"\n") for run in runs]
    assert lines[0] > lines[1] > lines[2] == 0
    first, *others = ((run.policy(128) / "policy.pt").read_bytes() for run in runs)
    assert others == [first, first]


@pytest.mark.parametrize("agent", AGENTS)
def test_two_threads_of_the_simulator_make_the_same_bytes_as_one(
    faults: ModuleType,
    suites: dict[str, str],
    here: dict[str, StudyFolder],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    agent: str,
) -> None:
    threads: list[int] = []

    def with_two(*arguments: object, **options: object) -> object:
        threads.append(2)
        return functools.partial(task_envs, threads=2)(*arguments, **options)  # type: ignore[arg-type]

    for module in (joint, runner, evaluator):
        monkeypatch.setattr(module, "task_envs", with_two)
    for order in orders({agent: suites[agent]}, tmp_path):
        execute(Path(order["run"]))
    assert results(faults, StudyFolder(tmp_path / agent)) == results(faults, here[agent])
    assert threads

"""Runs on environments that are not ours: their suites, and how a run goes on without their snapshot."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from etude import TaskSpec, register_environment, register_task
from etude.curriculum.agents.sb3 import SB3Agent
from etude.curriculum.cli import main
from etude.curriculum.observations import EpisodeTally
from etude.curriculum.records import read_evaluations
from etude.curriculum.runner import execute
from etude.curriculum.status import read_status, study_status
from etude.curriculum.study import StudyFolder
from etude.envs import make_vector
from etude.envs.errors import RunError
from tests.curriculum.conftest import SMALL

MakeStudy = Callable[..., StudyFolder]
POLE = {"id": "pole", "privileged": lambda env: {}, "success": lambda env: True, "horizon": 30}
PPO = SMALL["agent"]
SAC = {"algorithm": "SAC", "environments": 4}
SAC |= {"parameters": {"learning_starts": 16, "train_freq": 4, "batch_size": 16, "policy_kwargs": {"net_arch": [16]}}}


@pytest.fixture(autouse=True)
def poles() -> None:
    for task in ("pole", "pole-again"):
        register_environment("InvertedPendulum-v5", **(POLE | {"id": task}))  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("agent", [PPO, SAC])
def test_a_run_without_snapshots_goes_on_from_its_last_save_and_says_that_it_is_not_exact(
    make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch, agent: dict[str, Any]
) -> None:
    study = make_study(tasks=["pole", "pole-again"], agent=agent, evaluation={"every": 64, "episodes": 2})
    run = study.run("sequential-seed0")
    monkeypatch.setattr("etude.curriculum.runner.SAVING_SHARE", 1.0)
    learn, restarted = SB3Agent.learn, []

    def stop(self: SB3Agent, steps: int) -> None:
        if len(read_evaluations(run.evaluations)) == 3:  # 0, and 64 of the first task
            raise RuntimeError("the power went")
        learn(self, steps)

    with monkeypatch.context() as cut, pytest.raises(RunError, match="the power went"):
        cut.setattr(SB3Agent, "learn", stop)
        execute(run.path)
    assert [path.name for path in run.save.iterdir()] == ["64"] and read_status(run.status).exact

    restart = SB3Agent.restart
    monkeypatch.setattr(SB3Agent, "restart", lambda self: (restarted.append(self._model._last_obs), restart(self)))
    execute(run.path)
    assert len(restarted) == 1
    status = read_status(run.status)
    assert (status.state, status.step, status.exact) == ("done", 256, False)
    assert [row["exact"] for row in study_status(study.path)["runs"]] == [False, True]
    assert [e.step for e in read_evaluations(run.evaluations)] == [0, 0, 64, 128, 128, 192, 192, 256, 256]
    assert not json.loads((run.save / "256" / "run.json").read_text())["exact"]


@pytest.mark.slow
def test_a_run_that_stops_between_tasks_stays_exact(make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study(tasks=["pole", "pole-again"])
    run, other = (
        study.run("sequential-seed0"),
        make_study("other", tasks=["pole", "pole-again"]).run("sequential-seed0"),
    )
    begin = SB3Agent.begin_task

    def stop(self: SB3Agent, task: str, *arguments: Any) -> None:
        if task == "pole-again":
            raise RuntimeError("the power went")
        begin(self, task, *arguments)

    with monkeypatch.context() as cut, pytest.raises(RunError, match="the power went"):
        cut.setattr(SB3Agent, "begin_task", stop)
        execute(run.path)
    execute(run.path), execute(other.path)
    assert read_status(run.status).exact
    assert run.evaluations.read_bytes() == other.evaluations.read_bytes()


@pytest.mark.slow
def test_a_joint_run_without_snapshots_goes_on_and_says_that_it_is_not_exact(
    make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_study(tasks=["pole", "pole-again"], regimes=["joint"])
    run = study.run("joint-seed0")
    monkeypatch.setattr("etude.curriculum.runner.SAVING_SHARE", 1.0)
    learn = SB3Agent.learn

    def stop(self: SB3Agent, steps: int) -> None:
        if len(read_evaluations(run.evaluations)) == 4:
            raise RuntimeError("the power went")
        learn(self, steps)

    with monkeypatch.context() as cut, pytest.raises(RunError, match="joint at step 64, seed 0: .* the power went"):
        cut.setattr(SB3Agent, "learn", stop)
        execute(run.path)
    execute(run.path)
    status = read_status(run.status)
    assert (status.state, status.step, status.exact) == ("done", 256, False)
    assert [e.step for e in read_evaluations(run.evaluations)] == [0, 0, 64, 64, 128, 128, 192, 192, 256, 256]


def test_environments_are_exact_where_they_have_a_snapshot() -> None:
    assert EpisodeTally(make_vector("reach", 1)).exact
    envs = EpisodeTally(make_vector("pole", 2))
    envs.reset(seed=0)
    assert not envs.exact and list(envs.snapshot()) == ["tally", "ended"]


def test_a_suites_tasks_share_their_spaces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(SMALL | {"tasks": ["pole", "reach"]}))
    assert main(["run", str(tmp_path / "suite.yaml")]) == 2
    error = capsys.readouterr().err
    assert "tasks: observations of reach are Box" in error and "but of pole Box" in error and error.count("\n") == 1


def test_a_spec_of_a_batched_environment_is_a_task() -> None:
    spec = TaskSpec(id="own-batch", horizon=60, make_vector=lambda number, **_: make_vector("reach", number))
    register_task(spec)
    assert make_vector("own-batch", 3).num_envs == 3

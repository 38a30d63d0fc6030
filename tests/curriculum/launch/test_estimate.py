from collections.abc import Callable
from pathlib import Path

import pytest

from etude.curriculum.launch.estimate import Cost, makespan, measure
from etude.curriculum.plan import RunName
from etude.curriculum.status import Status
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite
from etude.envs.errors import RunError


def test_a_study_that_has_begun_costs_what_its_runs_have_taken_so_far() -> None:
    begun = Status(step=200, seconds={"learning": 8.0, "evaluation": 1.0, "saving": 1.0})
    assert Cost.so_far([Status(), begun, Status(step=300, seconds={"learning": 15.0})]) == Cost(0.05, 0.0)
    assert Cost.so_far([Status()]) is None


def test_jobs_go_to_the_worker_that_is_free_first() -> None:
    assert makespan([5, 3, 2, 1], workers=2) == 6
    assert makespan([5, 3], workers=1) == 8
    assert makespan([], workers=3) == 0


def test_a_run_costs_its_steps_and_its_evaluations(suite_of: Callable[..., Suite]) -> None:
    suite, cost = suite_of(), Cost(step=0.01, evaluation=0.1)
    # Checkpoints of press-button alone, 60 control steps each: 0, 64, 128.
    assert cost.seconds(suite, RunName("scratch", 0), done=0) == pytest.approx(128 * 0.01 + 3 * 60 * 0.1)
    # Of both tasks: 0 and the two ends; of those begun: one at 64, two at 192.
    assert cost.seconds(suite, RunName("sequential", 0), done=0) == pytest.approx(256 * 0.01 + 9 * 60 * 0.1)
    assert cost.seconds(suite, RunName("sequential", 0), done=192) == pytest.approx(64 * 0.01 + 2 * 60 * 0.1)


def test_the_cost_is_the_mean_over_workers() -> None:
    assert Cost.of([{"step": 1.0, "evaluation": 4.0}, {"step": 3.0, "evaluation": 2.0}]) == Cost(2.0, 3.0)


@pytest.mark.parametrize("algorithm", ["PPO", "SAC"])
def test_the_measurement_learns_and_evaluates(make_study: Callable[..., StudyFolder], algorithm: str) -> None:
    agent = {"algorithm": algorithm, "environments": 4, "parameters": {"n_steps": 16}}
    if algorithm == "SAC":
        agent["parameters"] = {"learning_starts": 100_000}
    study = make_study(agent=agent)
    measured = measure(study.path)
    assert 0 < measured["step"] < 5 and 0 < measured["evaluation"] < 5
    assert not (study.path / "runs").exists()


def test_a_failure_of_the_agents_is_told_as_its(
    make_study: Callable[..., StudyFolder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    methods = "begin_task learn end_task act save load save_policy load_policy".split()
    lines = ["class Lost:", "    def __init__(self, **settings):", "        raise KeyError('way')"]
    lines += [f"    def {method}(self, *arguments): ..." for method in methods]
    (tmp_path / "lost_agent.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    study = make_study(agent={"algorithm": "lost_agent:Lost", "environments": 4})
    with pytest.raises(RunError, match="^agent lost_agent:Lost raised KeyError: 'way' .ETUDE_TRACEBACK=1 shows where"):
        measure(study.path)

"""Real short trainings of every regime, and what their records must have in common."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from etude.curriculum.agents.sb3 import SB3Agent
from etude.curriculum.claim import claim_folder
from etude.curriculum.metrics.curves import load_curves
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.plan import groups, plan_run
from etude.curriculum.records import Evaluation, read_evaluations
from etude.curriculum.runner import execute
from etude.curriculum.status import read_status
from etude.curriculum.study import RunFolder, StudyFolder
from etude.curriculum.suite import REGIMES, Suite
from etude.envs.errors import RequestError, RunError
from tests.curriculum.conftest import small_suite

pytestmark = pytest.mark.slow
SAC = {"algorithm": "SAC", "environments": 3}
SAC |= {"parameters": {"learning_starts": 12, "train_freq": 4, "batch_size": 16, "policy_kwargs": {"net_arch": [16]}}}


def suite_of(**changes: Any) -> Suite:
    """Three tasks in every regime and both orders; rollouts of 48 steps, two a task."""
    parameters = {"n_steps": 16, "batch_size": 24, "n_epochs": 1}
    return small_suite(
        **{
            "tasks": ["reach", "press-button", "open-drawer"],
            "budget": 96,
            "regimes": list(REGIMES),
            "orders": 2,
            "evaluation": {"every": 48, "episodes": 2},
            "agent": {"algorithm": "PPO", "environments": 3, "parameters": parameters},
        }
        | changes
    )


SUITE = suite_of()
GROUPS = groups(SUITE)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> StudyFolder:
    """Every run of the suite, undisturbed."""
    study = StudyFolder(tmp_path_factory.mktemp("regimes") / "study")
    claim_folder(SUITE, study.path)
    for group in GROUPS:
        execute(study.run(f"{group}-seed0").path)
    return study


def records(run: RunFolder) -> dict[tuple[int, str], Evaluation]:
    return {(e.step, e.task): e for e in read_evaluations(run.evaluations)}


def policy(run: RunFolder, step: int) -> list[torch.Tensor]:
    return list(torch.load(run.policy(step) / "policy.pt", weights_only=True).values())


def same(some: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(some, others, strict=True))


@pytest.mark.parametrize("group", GROUPS)
def test_every_run_records_exactly_its_plan_and_stores_its_policies(study: StudyFolder, group: str) -> None:
    run, plan = study.run(f"{group}-seed0"), plan_run(SUITE, group)
    assert list(records(run)) == [(c.step, task) for c in plan.checkpoints for task in c.tasks]
    assert {int(path.name) for path in run.policy(0).parent.iterdir()} == {0, *(s.end for s in plan.segments)}
    status = read_status(run.status)
    assert (status.state, status.step, status.exact) == ("done", plan.segments[-1].end, True)


@pytest.mark.parametrize("group", GROUPS)
def test_every_run_begins_with_the_same_agent(study: StudyFolder, group: str) -> None:
    assert same(policy(study.run(f"{group}-seed0"), 0), policy(study.run("sequential-seed0"), 0))


@pytest.mark.parametrize(
    ("group", "begins_as", "steps"),
    [
        ("isolated-reach", "sequential", 96),
        ("isolated-press-button", "sequential-order2", 96),
        ("isolated-press-button", "sequential-without-reach", 96),
        ("scratch", "scratch-total", 96),
        ("sequential-without-press-button", "sequential", 96),
    ],
)
def test_runs_that_learn_the_same_at_first_have_the_same_curve(
    study: StudyFolder, group: str, begins_as: str, steps: int
) -> None:
    some, others = records(study.run(f"{group}-seed0")), records(study.run(f"{begins_as}-seed0"))
    shared = [cell for cell in some.keys() & others.keys() if cell[0] <= steps]
    assert {step for step, _ in shared} == {0, 48, 96}
    assert all(some[cell] == others[cell] for cell in shared)


def test_the_joint_agent_learns_something_else_than_any_other(study: StudyFolder) -> None:
    joint = policy(study.run("joint-seed0"), 288)
    assert not same(joint, policy(study.run("joint-seed0"), 0))
    assert not any(same(joint, policy(study.run(f"{group}-seed0"), 288)) for group in ("sequential", "scratch-total"))


def test_records_become_curves_of_every_group_in_the_suites_order_of_tasks(study: StudyFolder) -> None:
    curves = load_curves(study.path, of="success")
    assert tuple(curves.regimes) == GROUPS
    for group, arrays in curves.regimes.items():
        assert arrays.finished == (0,)
        assert arrays.returns.shape == arrays.lengths.shape == (1, 3, len(arrays.steps), 2)
        for (step, task), evaluation in records(study.run(f"{group}-seed0")).items():
            cell = (0, SUITE.tasks.index(task), arrays.steps.tolist().index(step))
            assert tuple(arrays.returns[cell]) == evaluation.returns
            assert tuple(arrays.lengths[cell]) == evaluation.lengths
        evaluated = {(s, t) for c in plan_run(SUITE, group).checkpoints for s, t in ((c.step, t) for t in c.tasks)}
        assert np.isfinite(arrays.returns).sum() == 2 * len(evaluated)


def test_a_view_knows_each_groups_order_and_ends(study: StudyFolder) -> None:
    view = StudyView(load_curves(study.path, of="success"), (0,))
    assert (view.order("sequential"), view.ends_of("sequential").tolist()) == ((0, 1, 2), view.ends.tolist())
    assert (view.order("sequential-order2"), view.ends_of("sequential-order2").tolist()) == ((1, 0, 2), [96, 192, 288])
    assert (view.order("sequential-without-reach"), view.ends_of("sequential-without-reach").tolist()) == (
        (1, 2),
        [96, 192],
    )
    assert (view.order("isolated-press-button"), view.ends_of("scratch-total").tolist()) == ((1,), [288])
    with pytest.raises(RequestError, match="joint: all tasks are learnt at once"):
        view.ends_of("joint")


@pytest.mark.parametrize(
    ("group", "agent", "calls"),
    [
        ("joint", "PPO", 1),
        ("joint", "PPO", 4),
        ("joint", "SAC", 4),
        ("scratch-total", "PPO", 4),
        ("sequential-order2", "PPO", 3),
        ("sequential-without-reach", "PPO", 3),
    ],
)
def test_a_run_that_was_interrupted_goes_on_to_the_same_records(
    study: StudyFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, agent: str, calls: int
) -> None:
    whole, suite = study.run(f"{group}-seed0"), SUITE
    if agent == "SAC":
        suite = suite_of(agent=SAC)
        claim_folder(suite, tmp_path / "whole")
        whole = StudyFolder(tmp_path / "whole").run(f"{group}-seed0")
        execute(whole.path)
    claim_folder(suite, tmp_path / "study")
    run = StudyFolder(tmp_path / "study").run(whole.path.name)
    monkeypatch.setattr("etude.curriculum.runner.SAVING_SHARE", 1.0)
    with monkeypatch.context() as cut, pytest.raises(RunError, match="the power went"):
        cut.setattr(SB3Agent, "learn", stopping(SB3Agent.learn, after=calls))
        execute(run.path)
    saved = [int(path.name) for path in run.save.glob("*")]
    assert max(saved, default=0) == 48 * (calls - 1)
    execute(run.path)
    assert read_status(run.status).exact
    assert run.evaluations.read_bytes() == whole.evaluations.read_bytes()
    assert run.training.read_bytes() == whole.training.read_bytes()
    last = plan_run(suite, group).segments[-1].end
    assert same(policy(run, last), policy(whole, last))


def stopping(learn: Callable[..., None], after: int) -> Callable[..., None]:
    """`learn`, but at its call number `after` it learns and then fails."""
    made = []

    def learn_and_stop(self: SB3Agent, steps: int) -> None:
        made.append(steps)
        learn(self, steps)
        if len(made) == after:
            raise RuntimeError("the power went")

    return learn_and_stop


def test_what_the_joint_agent_learns_does_not_depend_on_when_it_is_evaluated(
    study: StudyFolder, tmp_path: Path
) -> None:
    suite = suite_of(evaluation={"every": 96, "episodes": 3})
    claim_folder(suite, tmp_path / "study")
    run = StudyFolder(tmp_path / "study").run("joint-seed0")
    execute(run.path)
    assert same(policy(run, 288), policy(study.run("joint-seed0"), 288))

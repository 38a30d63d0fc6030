"""What is made of a check's answer, and where a check does not apply."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from etude import TaskSpec, make_vector, register_environment, register_task
from etude.envs import RequestError
from etude.envs.checks import CHECKS, Check, Failed, Finding, NotApplicable, Spaces, Subject, check, run_checks
from etude.envs.checks.sameness import SEEDS, digest, played
from etude.envs.checks.subject import HELD, extreme, wandering
from etude.envs.tabletop.reach import Reach

FROM_A_FILE = """
from etude import register_task
from etude.envs.tabletop.reach import Reach
from etude.envs.tabletop.starts import arrange

class Filed(Reach):
    "Reach, from a file."
    id, horizon = "filed", 12
    def reset(self, scene, ids, rngs):
        arrange(scene, ids, rngs)
        scene.goal[ids, 0] += 1e-9 * ({draw} % 1000)

register_task(Filed)
"""


def found(name: str) -> Check:
    (one,) = [one for one in CHECKS if one.name == name]
    return one


@pytest.mark.parametrize(
    ("answer", "finding"),
    [
        ("fine", Finding("it", "passed", "fine")),
        (("fine", {"rate": 2.0}), Finding("it", "passed", "fine", {"rate": 2.0})),
        (Failed("not\nso", {"rate": 0.5}), Finding("it", "failed", "not so", {"rate": 0.5})),
        (NotApplicable("no id"), Finding("it", "not applicable", "no id")),
        (RequestError("task x: bad"), Finding("it", "failed", "task x: bad")),
        (ZeroDivisionError("by\n zero"), Finding("it", "failed", "ZeroDivisionError: by zero")),
        (AssertionError(), Finding("it", "failed", "AssertionError: no reason given")),
    ],
)
def test_an_answer_becomes_a_finding_in_a_line(answer: Any, finding: Finding) -> None:
    @check("it")
    def look(subject: Subject) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert look(Subject("reach")) == finding


def test_where_no_episode_can_be_played_nothing_else_is_asked() -> None:
    asked = []

    def look(name: str, answer: str) -> Check:
        @check(name)
        def find(subject: Subject) -> str:
            asked.append(name)
            if answer:
                raise Failed(answer)
            return "fine"

        return find

    checks = (look("first", "raised"), look("second", ""), look("third", ""))
    outcomes = [finding.outcome for finding in run_checks(Subject("reach"), checks)]
    assert outcomes == ["failed", "not applicable", "not applicable"] and asked == ["first"]
    checks = (look("first", ""), look("second", "bad"), look("third", ""))
    assert [finding.outcome for finding in run_checks(Subject("reach"), checks)] == ["passed", "failed", "passed"]


@pytest.mark.parametrize("task", ["reach", "unlock-drawer"])
def test_ours_pass(task: str) -> None:
    for finding in run_checks(Subject(task), CHECKS):
        assert finding.outcome == "passed", finding


@pytest.mark.parametrize(("draw", "outcome"), [("hash('filed')", "failed"), ("len('filed')", "passed")])
def test_a_fresh_process_finds_the_task_by_its_prelude(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: str, outcome: str
) -> None:
    (tmp_path / "filed.py").write_text(FROM_A_FILE.format(draw=draw))
    prelude = f"import sys; sys.path.append({str(tmp_path)!r}); import filed"
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "filed", raising=False)
    import_module("filed")
    finding = found("same in a fresh process")(Subject("filed", prelude=prelude))
    assert finding.outcome == outcome, finding
    lost = found("same in a fresh process")(Subject("filed"))
    assert lost.outcome == "failed" and "unknown task 'filed'" in lost.reason


def test_the_fresh_process_is_compared_with_what_is_played_here() -> None:
    assert digest(played(Subject("reach"))) == digest(played(Subject("reach")))
    assert digest(played(Subject("reach"))) != digest(played(Subject("reach"), range(5)))
    assert len(SEEDS) == 5


@pytest.fixture
def pole() -> str:
    return register_environment(
        "InvertedPendulum-v5", id="pole", privileged=lambda env: {}, success=lambda env: True, horizon=30
    ).id


def test_an_environment_that_is_not_ours_may_end_early_and_pay_as_it_likes(pole: str) -> None:
    findings = {
        finding.check: finding for finding in run_checks(Subject(pole), CHECKS) if "process" not in finding.check
    }
    reasons = {
        "spaces": "no suite is named",
        "snapshot and restore": "has no snapshot()",
        "ends at its horizon": "may end early: 64 of 64, from step ",
        "rewards in 0 to 1": "they are finite, 0 to 1",
        "model unchanged": "not of the tabletop",
    }
    for name, finding in findings.items():
        if name in reasons:
            assert finding.outcome == "not applicable" and reasons[name] in finding.reason
        elif name != "same in a fresh process":
            assert finding.outcome == "passed", finding


def test_its_spaces_are_compared_with_those_of_a_suite(pole: str) -> None:
    with_reach = Spaces("reach in suite quick", Box(-1, 1, (3,)), Box(-3, 3, (1,)))
    finding = found("spaces")(Subject(pole, spaces=with_reach))
    assert finding.outcome == "failed" and "those of reach in suite quick Box(-1.0, 1.0, (3,)" in finding.reason
    env = make_vector(pole, 1)
    same = Spaces("pole", env.single_observation_space, env.single_action_space)
    env.close()
    assert found("spaces")(Subject(pole, spaces=same)).outcome == "passed"


def test_a_batched_environment_of_ones_own_without_a_gymnasium_id_is_checked_as_far_as_it_goes() -> None:
    register_task(type("Inner", (Reach,), {"id": "inner", "__doc__": "Inner.", "horizon": 12}))
    register_task(TaskSpec(id="own", horizon=12, make_vector=lambda n, **options: make_vector("inner", n, **options)))
    for name in ("Gymnasium's own checker", "spec to JSON and back"):
        finding = found(name)(Subject("own"))
        assert (finding.outcome, finding.reason) == ("not applicable", "Gymnasium has no id for it, only Étude")
    assert found("many the same as one")(Subject("own")).outcome == "passed"


def test_wandering_actions_fill_the_space_and_hold_for_a_while() -> None:
    space = Box(np.array([-1, 2], np.float32), np.array([1, 3], np.float32))
    actions = np.array(wandering(space, 400, 8))
    assert actions.shape == (400, 8, 2) and actions.dtype == np.float32
    assert np.allclose(actions.min(axis=(0, 1)), [-1, 2], atol=0.05) and np.allclose(
        actions.max(axis=(0, 1)), [1, 3], atol=0.05
    )
    assert np.array_equal(actions[0], actions[HELD - 1]) and not np.array_equal(actions[0], actions[HELD])
    assert not np.array_equal(actions, np.array(wandering(space, 400, 8, seed=1)))


def test_extreme_actions_are_corners_held_and_changing() -> None:
    actions = np.array(extreme(Box(-1, 1, (4,)), 30, 32))
    assert set(np.unique(actions)) == {-1, 1} and actions.shape == (30, 32, 4)
    assert len(np.unique(actions[0, :16], axis=0)) == 16 and (actions[:, :16] == actions[0, :16]).all()
    assert all(len(np.unique(actions[:, row], axis=0)) > 1 for row in range(16, 32))


@pytest.mark.parametrize(
    "space", [Discrete(3), Box(-np.inf, np.inf, (2,)), Dict({"a": Discrete(2), "b": Box(-1, 1, (1,))})]
)
def test_any_space_has_actions(space: Any) -> None:
    for made in (wandering(space, 3, 2), extreme(space, 3, 2)):
        rows = made[0] if not isinstance(made[0], dict) else made[0]["b"]
        assert len(made) == 3 and len(rows) == 2

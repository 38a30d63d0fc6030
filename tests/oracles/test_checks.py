"""The checks that need the oracle: each fails a task or an oracle that is broken in its way; ours pass them all."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from etude import get_task, register_environment, register_floor, register_oracle, register_task, task_ids
from etude.envs.checks import CHECKS, Check, Finding, Subject, run_checks
from etude.envs.tabletop.reach import Reach
from etude.oracles import Oracle, measure_oracle
from etude.oracles.checks import ORACLE_CHECKS
from etude.oracles.tabletop.reach import ReachOracle

Break = Callable[[], None]


def found(name: str) -> Check:
    (one,) = [one for one in ORACLE_CHECKS if one.name == name]
    return one


def look(name: str, episodes: int = 8) -> Finding:
    return found(name)(Subject("mine", episodes=episodes))


def task(**methods: Any) -> None:
    register_task(type("Mine", (Reach,), {"id": "mine", "__doc__": "Mine.", "horizon": 40} | methods))


def oracle(**methods: Any) -> Break:
    """Registers reach under another name, with a changed oracle."""

    def register() -> None:
        task()
        register_oracle(type("MineOracle", (ReachOracle,), {"task": "mine"} | methods))

    return register


def paying(**methods: Any) -> Break:
    """Registers a changed reach with its usual oracle."""

    def register() -> None:
        task(**methods)
        register_oracle(type("MineOracle", (ReachOracle,), {"task": "mine"}))

    return register


def still(self: Any, privileged: Any) -> Any:
    return np.zeros((self.size, 4), np.float32)


def by_turns(self: Any, privileged: Any) -> Any:
    """Every second row waits for half of the episode."""
    actions = ReachOracle.act(self, privileged)
    actions[(privileged["elapsed"] < 15) & (np.arange(self.size) % 2 == 0)] = 0
    return actions


def snaps(self: Any, privileged: Any) -> Any:
    actions = ReachOracle.act(self, privileged)
    actions[privileged["elapsed"] == 3, 3] = 1.5
    return actions


def counts(self: Any, scene: Any, ids: Any) -> None:
    scene.latch[ids, 3] += 1


BROKEN = [
    ("oracle solves it steadily", task, "task 'mine': has no oracle; register one with"),
    (
        "oracle solves it steadily",
        oracle(act=still),
        r"99% should succeed; episode 1, 2, 3 of etude watch mine --seed 0",
    ),
    ("oracle solves it steadily", oracle(act=by_turns), r"success 100.0%, .*; at most 5% should vary"),
    (
        "oracle solves it steadily",
        oracle(act=lambda self, privileged: privileged["gaol"]),
        "oracle of mine raised NoWordError",
    ),
    (
        "oracle solves it steadily",
        oracle(act=lambda self, privileged: np.zeros(4)),
        r"task 'mine': its oracle MineOracle gave actions of shape \(4,\); the action space has \(8, 4\)",
    ),
    ("oracle acts legally", oracle(act=snaps), r"it gave \[.* 1.5 *\] in row 0, not in Box"),
    (
        "margin over the floor",
        paying(reward=lambda self, scene: np.where(self.success(scene), 1.0, 0.8)),
        r"oracle 3.*, floor 32.00: apart by .*%, 50% are the least|larger, 50% are the least",
    ),
    ("margin over the floor", oracle(act=still), "task 'mine': no score, since its oracle's mean return"),
    (
        "chance does not solve it",
        paying(advance=counts, success=lambda self, scene: scene.latch[:, 3] > 30),
        "success of random 100.0%, of zero 100.0%; at most 5%",
    ),
    (
        "solved pays most",
        paying(reward=lambda self, scene: np.where(self.success(scene), 0.2, 0.25 * self.progress(scene))),
        r"at least 0.2 solved, at most 0.2\d+ unsolved",
    ),
    ("solved pays most", oracle(act=still), "the oracle never solved it"),
]


@pytest.mark.parametrize(("name", "broken", "told"), BROKEN, ids=[f"{name} {i}" for i, (name, *_) in enumerate(BROKEN)])
def test_what_is_broken_in_a_way_fails_its_check(name: str, broken: Break, told: str) -> None:
    broken()
    finding = look(name)
    assert finding.outcome == "failed" and re.search(told, finding.reason) and "\n" not in finding.reason, finding


def test_every_check_has_something_that_is_broken_in_its_way() -> None:
    assert {name for name, *_ in BROKEN} == {one.name for one in ORACLE_CHECKS}
    assert not {one.name for one in ORACLE_CHECKS} & {one.name for one in CHECKS}


def test_an_oracle_that_does_not_play_is_told_once() -> None:
    task()
    outcomes = [one(Subject("mine", episodes=4)).outcome for one in ORACLE_CHECKS]
    assert outcomes == ["failed", *["not applicable"] * 4]


def test_the_figures_are_those_of_the_oracle_command() -> None:
    subject = Subject("reach", episodes=8)
    measured = measure_oracle("reach", 8)
    for check, names in (("oracle solves it steadily", ("return", "success", "variation")),):
        assert found(check)(subject).measured == {name: measured["oracle"][name] for name in names}
    margin = found("margin over the floor")(subject).measured
    assert margin == {"oracle": measured["oracle"]["return"], "floor": measured["zero"]["return"]}


def test_a_floor_of_ones_own_must_fail_too() -> None:
    oracle()()
    register_floor(type("MineFloor", (ReachOracle,), {"task": "mine"}))
    finding = look("chance does not solve it")
    assert finding.outcome == "failed" and finding.reason.startswith(
        "success of random 0.0%, of zero 0.0%, of floor 100.0%"
    )


class Upright(Oracle):
    """Holds InvertedPendulum's pole."""

    task = "pole"

    def act(self, privileged: Any) -> Any:
        return np.clip((privileged["state"] * [1.0, 24.0, 2.0, 3.5]).sum(axis=1, keepdims=True), -3, 3)


def test_an_environment_that_is_not_ours_pays_as_it_likes() -> None:
    register_environment(
        "InvertedPendulum-v5",
        id="pole",
        privileged=lambda env: {"state": np.concatenate([env.data.qpos, env.data.qvel])},
        success=lambda env: bool(abs(env.data.qpos[1]) < 0.2),
        horizon=40,
    )
    register_oracle(Upright)
    findings = list(run_checks(Subject("pole", episodes=8), ORACLE_CHECKS))
    assert [finding.outcome for finding in findings] == ["passed"] * 4 + ["not applicable"]


def swings(self: Any, privileged: Any) -> Any:
    """Pushes Pendulum's rod the way it moves."""
    return 2.0 * np.sign(privileged["state"][:, 1:])


def test_a_return_that_the_start_decides_is_told_and_not_judged_off_the_tabletop() -> None:
    register_environment(
        "Pendulum-v1",
        id="swing",
        privileged=lambda env: {"state": env.state},
        success=lambda env: True,
        horizon=20,
    )
    register_oracle(type("Swinging", (Oracle,), {"task": "swing", "act": swings}))
    finding = found("oracle solves it steadily")(Subject("swing", episodes=8))
    assert finding.outcome == "passed" and finding.reason.endswith("which off the tabletop may be that of the starts")
    assert finding.measured["variation"] > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", task_ids())
def test_ours_pass_every_check(name: str) -> None:
    assert get_task(name).id == name
    for finding in run_checks(Subject(name, episodes=32), CHECKS + ORACLE_CHECKS):
        assert finding.outcome == "passed", finding

"""Real runs: what they write down of their cost, and that nothing of it reaches what is learnt."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from etude.curriculum.cost import RunCost
from etude.curriculum.runner import execute
from etude.curriculum.study import RunFolder
from tests.curriculum.conftest import MakeStudy

SAC = {
    "algorithm": "SAC",
    "environments": 4,
    "parameters": {"learning_starts": 64, "batch_size": 16, "buffer_size": 1000, "policy_kwargs": {"net_arch": [8]}},
}


def cost_of(run: RunFolder) -> dict[str, Any]:
    return dict(json.loads(run.cost.read_bytes()))


@pytest.fixture
def ppo(make_study: MakeStudy) -> RunFolder:
    run = make_study().run("sequential-seed0")
    execute(run.path)
    return run


def test_a_run_writes_down_its_sizes(ppo: RunFolder) -> None:
    cost = cost_of(ppo)
    weights = torch.load(ppo.policy(256) / "policy.pt", weights_only=True)
    assert cost["trainable_params"] == sum(weight.numel() for weight in weights.values())
    assert cost["model_bytes"] == sum(path.stat().st_size for path in ppo.policy(256).iterdir())
    assert cost["buffer_bytes"] == cost["state_bytes"] == 0
    assert 50e6 < cost["peak_mem"] < 50e9


def test_an_actions_operations_are_those_of_its_layers(ppo: RunFolder) -> None:
    """Two for every weight of the policy's matrices; the value's are not needed, but computed beside them."""
    weights = torch.load(ppo.policy(256) / "policy.pt", weights_only=True)
    acting = sum(
        w.numel() for name, w in weights.items() if w.ndim == 2 and "policy_net" in name or "action_net.w" in name
    )
    assert cost_of(ppo)["flops_an_action"] == 2 * acting


def test_the_first_and_the_last_task_are_counted_over_whole_rollouts(ppo: RunFolder) -> None:
    flops = cost_of(ppo)["flops"]
    assert list(flops) == ["reach", "press-button"]
    for task in flops.values():
        assert task["learning"]["steps"] == 64
        assert task["learning"]["operations"] > 64 * cost_of(ppo)["flops_an_action"]
        assert task["method"]["operations"] == 0


def test_counting_changes_no_bit_of_what_is_learnt(make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    for name, agent in (("ppo", {}), ("sac", {"agent": SAC})):
        counted, plain = (make_study(f"{name}-{how}", **agent).run("sequential-seed0") for how in ("counted", "plain"))
        execute(counted.path)
        with monkeypatch.context() as patch:
            patch.setattr(RunCost, "counting", lambda self, *_, **__: nullcontext())
            execute(plain.path)
        assert cost_of(counted)["flops"] and not cost_of(plain)["flops"]
        assert counted.evaluations.read_bytes() == plain.evaluations.read_bytes()
        for step in ("128", "256"):
            one, other = (
                torch.load(run.policy(int(step)) / "policy.pt", weights_only=True) for run in (counted, plain)
            )
            assert all(torch.equal(one[key], other[key]) for key in one)


def test_a_replay_buffer_is_measured_and_its_warm_up_noted(make_study: MakeStudy) -> None:
    run = make_study(agent=SAC, regimes=["scratch"]).run("scratch-seed0")
    execute(run.path)
    cost = cost_of(run)
    assert cost["buffer_bytes"] > 1000 * 2 * 4 * 30
    assert cost["flops"]["press-button"]["learning"]["warm_up"] == 64


def test_facts_are_kept_where_a_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "cost.json"
    cost = RunCost(path)
    with cost.counting("reach", "learning", 4):
        torch.zeros(3, 5) @ torch.zeros(5, 7)
    cost._write()
    again = RunCost(path)
    with again.counting("lift", "learning", 4):
        pass
    again._write()
    flops = json.loads(path.read_bytes())["flops"]
    assert flops["reach"]["learning"] == {"operations": 2 * 3 * 5 * 7, "steps": 4}
    assert flops["lift"]["learning"]["operations"] == 0

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from etude.curriculum.agents import protocol
from etude.curriculum.agents.sb3 import SB3Agent
from etude.curriculum.metrics import metric_names
from etude.curriculum.metrics.compute import compute_metrics, measure
from etude.curriculum.metrics.curves import Curves, load_curves
from etude.curriculum.metrics.matrix import learnt, matrix
from etude.curriculum.metrics.policies import feature_movement, linear_cka
from etude.curriculum.metrics.policies.played import played
from etude.curriculum.metrics.policies.represented import read_features, represented
from etude.curriculum.metrics.policies.retrained import retrained
from etude.curriculum.metrics.view import StudyView
from etude.oracles import evaluation_seeds, measure_references, registry, rollout, score
from tests.curriculum.metrics.policies import slow

pytestmark = pytest.mark.slow

NAMES = [name for name in metric_names("full") if name not in metric_names("core")]
TASKS = ("reach", "press-button", "open-drawer")
NOTHING_LEARNT = {"head_forgetting", "recovery", "recovery_per_task"}
STILL = """
import numpy as np

class Still:
    def __init__(self, observation_space, action_space, environments, parameters, seed):
        self.action = np.zeros(action_space.shape, action_space.dtype)
    def begin_task(self, task, envs, budget):
        envs.reset()
    def learn(self, steps): ...
    def end_task(self, task): ...
    def act(self, observations):
        return np.tile(self.action, (len(observations), 1))
    def save(self, folder): ...
    def load(self, folder, task, envs, budget): ...
    def save_policy(self, folder):
        (folder / "nothing").write_text("")
    def load_policy(self, folder): ...
"""


def measured(study: Path, *names: str, of: str = "score") -> dict[str, Any]:
    result: dict[str, Any] = measure(load_curves(study, of), names or NAMES)["metrics"]  # type: ignore[arg-type]
    return result


def shape(value: Any) -> tuple[int, ...]:
    return np.shape(np.array(value, np.float64))


def with_scores(curves: Curves, at_own_end: float, at_the_end: float) -> Curves:
    """The same records, but every task's score is one number from its own end on, and another at the very end."""
    records, suite = curves.regimes["sequential"], curves.suite
    returns = records.returns.copy()
    for j, (task, end) in enumerate(zip(suite.tasks, suite.ends, strict=True)):
        reference = curves.references[task]
        low, high = max(floor.mean() for floor in reference.floors), reference.oracle.mean()
        returns[:, j, records.steps >= end] = low + at_own_end / 100 * (high - low)
        if j < len(suite.tasks) - 1:
            returns[:, j, -1] = low + at_the_end / 100 * (high - low)
    return replace(curves, regimes={"sequential": replace(records, returns=returns)})


@pytest.fixture(scope="module")
def everything(ppo_study: Path) -> dict[str, Any]:
    return measured(ppo_study)


def test_all_metrics_of_policies_are_measured_or_say_why_not(everything: dict[str, Any]) -> None:
    undefined = {name: entry["reason"] for name, entry in everything.items() if entry["value"] is None}
    assert undefined.pop("general_ppl_delta") == "needs a language model"
    assert set(undefined) == NOTHING_LEARNT
    assert undefined["head_forgetting"] == "no task had a score of 10 at its own end"
    assert undefined["recovery"] == "no task's score fell by 10 or more: there is nothing to bring back"


def test_arrays_have_a_label_for_every_place(everything: dict[str, Any]) -> None:
    arrays = {name: entry for name, entry in everything.items() if isinstance(entry["value"], list)}
    assert {name: shape(entry["value"]) for name, entry in arrays.items()} == {
        name: tuple(map(len, entry["labels"])) for name, entry in arrays.items()
    }
    policies = ["untrained", "after reach", "after press-button", "after open-drawer"]
    assert everything["probe_matrix"]["labels"] == [policies, list(TASKS)]
    assert everything["cka_matrix"]["labels"] == [list(TASKS), policies, policies]
    assert everything["weight_drift"]["labels"][0] == list(TASKS)
    assert "action_net" in everything["weight_drift"]["labels"][1]


def test_a_number_is_the_last_of_its_curve_and_the_mean_of_the_seeds(everything: dict[str, Any]) -> None:
    for name, entry in everything.items():
        if entry["value"] is None or f"{name}_curve" not in everything or name == "loss_barrier":
            continue
        assert everything[f"{name}_curve"]["value"][-1] == entry["value"]
        per_seed = np.array(list(entry["per_seed"].values()), np.float64)
        assert np.array(entry["value"]) == pytest.approx(per_seed.mean(axis=0), nan_ok=True)


def test_curves_of_old_tasks_begin_once_there_is_one(everything: dict[str, Any]) -> None:
    for name in ("repr_forgetting_curve", "cka_final_curve", "feature_drift_curve", "recency_bias_curve"):
        assert [value is None for value in everything[name]["value"]] == [True, True, False, False], name


def test_numbers_keep_their_bounds(everything: dict[str, Any]) -> None:
    assert 0 < everything["cka_final"]["value"] <= 1
    assert everything["probe_acc"]["value"] < 1
    assert 0 <= everything["dormant_ratio"]["value"] <= 1
    assert 1 <= everything["effective_rank"]["value"] <= 64
    assert 1 <= everything["srank"]["value"] <= 64
    assert np.array(everything["task_confusion"]["value"]).sum(axis=1) == pytest.approx(1)
    assert np.diagonal(np.array(everything["grad_interference_matrix"]["value"])) == pytest.approx(1)
    assert everything["loss_barrier"]["value"] >= 0


def test_what_was_measured_is_read_again_and_no_policy_is_loaded(
    ppo_study: Path, everything: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path: path.stat().st_mtime_ns for path in (ppo_study / "cache").iterdir()}
    monkeypatch.setattr(protocol, "make_agent", lambda *_: pytest.fail("an agent was made"))
    monkeypatch.setattr("etude.curriculum.agents.make_agent", lambda *_: pytest.fail("an agent was made"))
    assert measured(ppo_study) == everything
    assert {path: path.stat().st_mtime_ns for path in (ppo_study / "cache").iterdir()} == before


def test_another_policy_is_measured_anew_and_the_others_are_not(copied: Path, everything: dict[str, Any]) -> None:
    policy = "policies/384/policy.pt"
    weights = torch.load(copied / "runs/sequential-seed1" / policy, weights_only=True)
    weights["action_net.bias"] += 1
    torch.save(weights, copied / "runs/sequential-seed1" / policy)
    told: list[str] = []
    curves = load_curves(copied)
    curves.policies.tell = told.append
    found = measure(curves, ["validation_matrix", "effective_rank"])["metrics"]
    assert told == ["validation episodes of sequential-seed1, after open-drawer", "features of sequential-seed1"]
    for name in ("validation_matrix", "effective_rank"):
        assert found[name]["per_seed"]["0"] == everything[name]["per_seed"]["0"]
    assert found["validation_matrix"]["per_seed"]["1"][3] != everything["validation_matrix"]["per_seed"]["1"][3]
    assert found["validation_matrix"]["per_seed"]["1"][:3] == everything["validation_matrix"]["per_seed"]["1"][:3]


def test_a_broken_file_of_the_cache_is_measured_again(copied: Path, everything: dict[str, Any]) -> None:
    for path in (copied / "cache").glob("represented-*"):
        path.write_bytes(path.read_bytes()[:100])
    assert measured(copied, "probe_acc")["probe_acc"] == everything["probe_acc"]


def test_what_is_measured_leaves_the_random_generators_as_they_were(copied: Path) -> None:
    from etude.curriculum.agents.generators import generators_state

    shutil.rmtree(copied / "cache")
    before = generators_state()
    measured(copied, "effective_rank", "validation_score")
    assert generators_state() == before


def test_validation_scores_are_those_of_the_stored_policies_on_episodes_of_their_own(
    ppo_study: Path, everything: dict[str, Any]
) -> None:
    from etude.curriculum.evaluator import task_envs

    policies = load_curves(ppo_study).policies
    agent = policies.agent(1, 3)
    for j, task in enumerate(TASKS):
        seeds = evaluation_seeds(task, 2, "validation")
        assert not {*seeds} & {*evaluation_seeds(task, 1000)}
        envs = task_envs(policies.suite, task, 2)
        episodes = rollout(envs, agent.act, seeds)
        envs.close()
        wanted = score(episodes.returns, measure_references(task, 2, seeds)).mean()
        assert everything["validation_matrix"]["per_seed"]["1"][3][j] == pytest.approx(wanted)
    assert everything["validation_score"]["value"] == pytest.approx(
        np.mean(everything["validation_matrix"]["value"][3])
    )


def test_the_ends_of_a_segment_score_what_was_recorded(ppo_study: Path, everything: dict[str, Any]) -> None:
    for seed in (0, 1):
        scores = matrix(StudyView(load_curves(ppo_study), (seed,)))
        for j, path in enumerate(everything["loss_barrier_path"]["per_seed"][str(seed)]):
            assert path[0] == pytest.approx(scores[j + 1, j])
            assert path[-1] == pytest.approx(scores[j + 2, j])
            assert len(path) == 11


def test_a_policy_that_stays_as_it_is_neither_drifts_nor_forgets(copied: Path) -> None:
    for policies in copied.glob("runs/*/policies"):
        for step in ("256", "384"):
            shutil.copy(policies / "128" / "policy.pt", policies / step / "policy.pt")
    found = measured(copied)
    assert found["cka_final"]["value"] == pytest.approx(1)
    for name in ("repr_forgetting", "feature_drift", "loss_barrier"):
        assert found[name]["value"] == 0, name
    drift = np.array(found["weight_drift"]["value"], np.float64)
    assert (drift[1:] == 0).all() and np.nanmax(drift[0]) > 0


def test_a_drop_that_the_representation_does_not_account_for_is_the_heads(ppo_study: Path) -> None:
    curves = with_scores(load_curves(ppo_study), 80, 60)
    probes = {seed: represented(curves.policies, seed)["probe"] for seed in (0, 1)}
    drops = np.mean([[p[1, 0] - p[3, 0], p[2, 1] - p[3, 1]] for p in probes.values()], axis=0)
    found = measure(curves, ["head_forgetting", "repr_forgetting"])["metrics"]
    assert found["repr_forgetting"]["value"] == pytest.approx(drops.mean())
    assert found["head_forgetting"]["value"] == pytest.approx(20 / 80 - drops.mean())


def test_recovery_is_what_a_short_retraining_brings_back_of_what_was_lost(ppo_study: Path) -> None:
    curves = with_scores(load_curves(ppo_study), 80, 60)
    found = measure(curves, ["recovery", "recovery_per_task"])["metrics"]
    regained = []
    for j, task in enumerate(TASKS[:2]):
        after = [retrained(curves.policies, seed, task) for seed in (0, 1)]
        assert {int(one["steps"]) for one in after} == {64}, "a tenth of the budget, in whole rollouts"
        reference = curves.references[task]
        low, high = max(floor.mean() for floor in reference.floors), reference.oracle.mean()
        now = 100 * (np.mean([one["returns"] for one in after]) - low) / (high - low)
        regained.append((now - 60) / 20)
        assert found["recovery_per_task"]["value"][j] == pytest.approx(regained[-1])
    assert found["recovery"]["value"] == pytest.approx(np.mean(regained))
    assert found["recovery"]["interval"] is None


def test_a_task_that_lost_little_is_left_out_of_recovery_and_named(ppo_study: Path) -> None:
    curves = with_scores(load_curves(ppo_study), 80, 60)
    returns = curves.regimes["sequential"].returns
    returns[:, 1, -1] = returns[:, 1, -2]
    found = measure(curves, ["recovery"])["metrics"]["recovery"]
    assert found["left_out"] == {"press-button": "score fell by 0.0, less than 10"}
    assert learnt(matrix(StudyView(curves, (0, 1))))[1] == pytest.approx(80)


def test_what_is_said_of_old_tasks_compares_with_the_end_of_their_own_training(
    ppo_study: Path, everything: dict[str, Any]
) -> None:
    """Task j's own training ends with policy j + 1; two tasks are old in the end, and one after the second."""
    found = {name: entry["per_seed"].get("0") for name, entry in everything.items()}
    policies = load_curves(ppo_study).policies
    seen = [read_features(policies, 0, k) for k in range(4)]
    alike, moved, probe = found["cka_matrix"], found["feature_drift_curve"], found["probe_matrix"]
    assert alike[1][2][3] == pytest.approx(linear_cka(seen[2][1], seen[3][1]))
    assert found["cka_final_curve"][2:] == pytest.approx([alike[0][1][2], (alike[0][1][3] + alike[1][2][3]) / 2])
    ways = [feature_movement(seen[j + 1][j], seen[3][j]) for j in (0, 1)]
    assert moved[2:] == pytest.approx([feature_movement(seen[1][0], seen[2][0]), np.mean(ways)])
    drops = [probe[1][0] - probe[2][0], (probe[1][0] - probe[3][0] + probe[2][1] - probe[3][1]) / 2]
    assert found["repr_forgetting_curve"][2:] == pytest.approx(drops)
    shares = found["task_confusion_curve"]
    recent = [shares[2][0][1], (shares[3][0][2] + shares[3][1][2]) / 2]
    assert found["recency_bias_curve"][2:] == pytest.approx(recent)


def test_the_value_at_the_start_is_compared_with_what_followed_and_the_value_at_the_cut(
    ppo_study: Path, everything: dict[str, Any]
) -> None:
    own = played(load_curves(ppo_study).policies, 0, 3)
    came = own["discounted"] + 0.99 ** own["lengths"] * own["last"]
    together = slow.calibration_error(own["first"].ravel().tolist(), came.ravel().tolist(), 15)
    assert everything["value_calibration"]["per_seed"]["0"] == pytest.approx(together)
    for j in range(3):
        alone = slow.calibration_error(own["first"][j].tolist(), came[j].tolist(), 15)
        assert everything["value_calibration_per_task"]["per_seed"]["0"][3][j] == pytest.approx(alone)


def test_weights_are_measured_layer_by_layer(ppo_study: Path, everything: dict[str, Any]) -> None:
    run = ppo_study / "runs" / "sequential-seed0" / "policies"
    stored = [torch.load(run / str(step) / "policy.pt", weights_only=True) for step in (0, 128, 256, 384)]
    for place, layer in enumerate(everything["weight_norms"]["labels"][1]):
        own = [
            torch.cat([v.ravel() for n, v in p.items() if n in (layer, f"{layer}.weight", f"{layer}.bias")])
            for p in stored
        ]
        norms = [row[place] for row in everything["weight_norms"]["per_seed"]["0"]]
        assert norms == pytest.approx([float(weights.norm()) for weights in own])
        ways = [row[place] for row in everything["weight_drift"]["per_seed"]["0"]]
        wanted = [float((own[k + 1] - own[k]).norm() / own[k].norm()) for k in range(3)]
        assert ways[1:] == pytest.approx(wanted[1:], rel=1e-4)


def test_features_are_of_the_same_observations_for_every_policy(ppo_study: Path) -> None:
    policies = load_curves(ppo_study).policies
    first, last = read_features(policies, 0, 0), read_features(policies, 0, 3)
    assert [x.shape for x in first] == [x.shape for x in last]
    assert all(x.shape[1] == 64 and len(x) >= 8 * 15 for x in first)


def test_success_rates_are_measured_where_they_are_asked_for(copied: Path) -> None:
    found = measured(copied, "validation_matrix", "loss_barrier_path", of="success")
    assert {value for row in found["validation_matrix"]["per_seed"]["0"] for value in row} <= {0, 50, 100}
    assert {value for row in found["loss_barrier_path"]["per_seed"]["0"] for value in row} <= {0, 50, 100}


def test_a_policy_that_is_gone_is_named(copied: Path) -> None:
    shutil.rmtree(copied / "runs" / "sequential-seed1" / "policies" / "256")
    for name, entry in measured(copied).items():
        if name not in NOTHING_LEARNT | {"general_ppl_delta"}:
            assert entry["value"] is None, name
            wanted = "needs the stored policy runs/sequential-seed1/policies/256, which is not there"
            assert entry["reason"] == wanted, name


def test_a_task_that_is_gone_leaves_what_reads_it_undefined(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(registry._classes, "press-button")
    for name in ("probe_acc", "task_confusion", "validation_score", "grad_interference"):
        assert measured(copied, name)[name]["reason"].startswith("task 'press-button': has no oracle"), name
    assert measured(copied, "weight_norms")["weight_norms"]["value"] is not None


def test_whatever_an_agent_raises_is_the_reason(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, observations: object) -> None:
        raise ZeroDivisionError("of my own")

    shutil.rmtree(copied / "cache")
    monkeypatch.setattr(SB3Agent, "activations", fail)
    reason = measured(copied, "dormant_ratio")["dormant_ratio"]["reason"]
    assert reason == "features of sequential-seed0: ZeroDivisionError: of my own"


def test_a_policy_that_cannot_be_read_is_named(copied: Path) -> None:
    path = copied / "runs" / "sequential-seed1" / "policies" / "256" / "policy.pt"
    path.write_bytes(b"nothing")
    reason = measured(copied, "weight_norms")["weight_norms"]["reason"]
    assert re.match(rf"{path.parent}: cannot be read \(", reason)


def test_what_an_agent_of_ones_own_lacks_is_said(trained: Callable[..., Path], tmp_path: Path) -> None:
    module = tmp_path / f"still_{tmp_path.name}.py"
    module.write_text(STILL)
    study = trained(agent={"algorithm": f"{module.stem}:Still", "environments": 4}, imports=[str(module)])
    found = compute_metrics(study, tier="full")["metrics"]
    assert found["validation_score"]["value"] is not None
    assert found["task_confusion"]["value"] is not None
    for name, ability in (
        ("probe_acc", "features"),
        ("cka_matrix", "features"),
        ("dormant_ratio", "activations"),
        ("weight_norms", "weights"),
        ("loss_barrier", "load_between"),
        ("grad_interference", "policy_gradient"),
    ):
        assert found[name]["reason"] == f"needs {ability}, which the agent Still does not have"
    assert found["value_calibration"]["reason"] == "needs value and discount, which the agent does not have"


def test_sac_is_measured_as_ppo_is(sac_study: Path) -> None:
    found = measured(sac_study)
    undefined = {name for name, entry in found.items() if entry["value"] is None}
    assert undefined == NOTHING_LEARNT | {"general_ppl_delta"}
    assert not [layer for layer in found["weight_norms"]["labels"][1] if "target" in layer]


def test_a_single_task_has_no_old_ones(trained: Callable[..., Path]) -> None:
    found = measured(trained(tasks=["reach"], budget=64))
    assert found["probe_acc"]["value"] is not None
    for name in ("repr_forgetting", "cka_final", "recency_bias", "recovery", "loss_barrier", "grad_interference"):
        assert found[name]["reason"] == "needs at least 2 tasks", name

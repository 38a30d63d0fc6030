import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from etude.curriculum.metrics.compute import compute_metrics
from etude.curriculum.metrics.cost import COSTS, cost_of_runs
from etude.curriculum.plan import groups
from etude.curriculum.status import Status, write_status
from etude.envs.errors import RequestError
from tests.curriculum.metrics.fake import curves_of, value_of
from tests.curriculum.studies import make_suite, realistic, write_study

COST: dict[str, Any] = {
    "peak_mem": 400_000_000,
    "trainable_params": 1000,
    "model_bytes": 5000,
    "buffer_bytes": 0,
    "state_bytes": 10,
    "flops_an_action": 100,
    "flops": {
        "reach": {
            "learning": {"operations": 6400, "steps": 64, "warm_up": 10},
            "method": {"operations": 7, "steps": 40},
        },
        "unlock-drawer": {"learning": {"operations": 12800, "steps": 64}},
    },
}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    suite = make_suite(("reach", "press-button", "unlock-drawer"), seeds=[0, 1], episodes=4)
    folder = write_study(tmp_path / "study", suite, realistic(suite))
    for run in sorted((folder / "runs").iterdir()):
        write_status(
            run / "status.json", Status("done", step=120, of=120, seconds={"learning": 2.0, "evaluation": 0.5})
        )
        if run.name != "scratch-seed1":
            (run / "cost.json").write_text(json.dumps(COST))
    return folder


def test_a_studys_costs_are_put_together_from_its_runs(study: Path) -> None:
    measured = compute_metrics(study)
    metrics = measured["metrics"]
    assert metrics["wall_time"]["value"] == 4 * 2.5
    assert metrics["wall_time"]["per_seed"] == {"0": 5.0, "1": 5.0}
    assert metrics["env_steps_per_s"]["value"] == 60
    assert metrics["peak_mem"]["value"] == 4e8
    assert metrics["state_bytes"]["left_out"] == {"scratch-seed1": "not recorded"}
    assert metrics["wall_time"]["interval"] is None
    [told] = [line for line in measured["warnings"] if "has not recorded" in line]
    assert told.startswith("scratch-seed1 has not recorded peak_mem, trainable_params, ")
    assert told.endswith("total_flops, and is left out there") and "wall_time" not in told
    assert set(measured["costs"]) == {f"{group}-seed{seed}" for group in ("sequential", "scratch") for seed in (0, 1)}


def test_operations_are_those_of_learning_method_and_evaluation(study: Path) -> None:
    costs = compute_metrics(study)["costs"]
    evaluations = len((study / "runs/sequential-seed0/evaluations.jsonl").read_text().splitlines())
    acting = 100 * evaluations * 4 * 60
    assert costs["sequential-seed0"]["total_flops"] == 100 * (40 - 10) + 200 * 40 + 200 * 40 + 7 + acting
    assert costs["scratch-seed1"]["total_flops"] is None
    assert costs["scratch-seed1"]["wall_time"] == 2.5


def test_a_study_without_the_facts_says_so(tmp_path: Path) -> None:
    suite = make_suite(("reach", "unlock-drawer"), 20)
    measured = compute_metrics(write_study(tmp_path / "study", suite, realistic(suite)))["metrics"]
    for name in ("peak_mem", "total_flops", "wall_time"):
        assert measured[name]["reason"] == "no finished run has recorded it"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"peak_mem": ', "cost.json: not what a run writes"),
        ("[1]", "cost.json: not what a run writes"),
        ('{"peak_mem": "lots"}', "cost.json: not what a run writes .peak_mem: "),
        ('{"flops": [1], "flops_an_action": 2}', "cost.json: not what a run writes .flops: "),
        (
            '{"flops": {"reach": {"learning": {"operations": 1, "steps": 0}}}, "flops_an_action": 2}',
            "cost.json: not what a run writes .flops.reach.learning.steps: ",
        ),
    ],
)
def test_a_torn_or_hand_edited_cost_is_told_with_its_file(study: Path, text: str, fault: str) -> None:
    (study / "runs/scratch-seed0/cost.json").write_text(text)
    with pytest.raises(RequestError, match=f"runs/scratch-seed0/{fault}") as raised:
        compute_metrics(study)
    assert "\n" not in str(raised.value)


STORED = ("peak_mem", "trainable_params", "model_bytes", "buffer_bytes", "state_bytes")
TASKS = ("reach", "press-button", "unlock-drawer")
BUDGET = {"reach": 20, "press-button": 30, "unlock-drawer": 40}
LEARNT = {"sequential": TASKS, "scratch": TASKS[2:], "isolated-reach": TASKS[:1], "isolated-press-button": TASKS[1:2]}
COUNT = st.integers(0, 10**12)
COUNTED = st.fixed_dictionaries(
    {
        "learning": st.fixed_dictionaries(
            {"operations": COUNT, "steps": st.integers(1, 99)}, optional={"warm_up": st.integers(0, 60)}
        )
    },
    optional={"method": st.fixed_dictionaries({"operations": COUNT, "steps": st.integers(1, 99)})},
)


@st.composite
def costs_of_runs(draw: st.DrawFn) -> dict[str, tuple[dict[str, float], dict[str, Any]]]:
    """Of each run the seconds of its status, and what its cost.json holds."""
    seconds = st.dictionaries(
        st.sampled_from(("learning", "evaluation", "saving")), st.just(0.0) | st.floats(1e-3, 1e6)
    )
    found = {}
    for group, learnt in LEARNT.items():
        for seed in (0, 1):
            facts = {name: draw(COUNT) for name in draw(st.lists(st.sampled_from(STORED), unique=True))}
            flops = {learnt[0]: draw(COUNTED)} | ({learnt[-1]: draw(COUNTED)} if len(learnt) > 1 else {})
            if draw(st.booleans()):
                facts |= {"flops": flops, "flops_an_action": draw(st.none() | st.integers(1, 10**9))}
            found[f"{group}-seed{seed}"] = (draw(seconds), facts)
    return found


def operations_by_hand(run: str, facts: Mapping[str, Any], evaluated: int) -> float | None:
    """What cost.md says: a counted task's own cost a step, of those between the last one's; every action evaluated."""
    if facts.get("flops_an_action") is None:
        return None
    learnt = LEARNT[run.rpartition("-seed")[0]]
    total = 0.0
    for task in learnt:
        counted = facts["flops"][task if task == learnt[0] else learnt[-1]]
        steps = BUDGET[task] - counted["learning"].get("warm_up", 0)
        if steps > 0:
            total += counted["learning"]["operations"] / counted["learning"]["steps"] * steps
        if task in (learnt[0], learnt[-1]) and "method" in counted:
            total += counted["method"]["operations"]
    return total + evaluated * facts["flops_an_action"]


def by_hand(run: str, name: str, seconds: Mapping[str, float], facts: Mapping[str, Any], acted: int) -> float | None:
    """A cost of a run; None where nothing says it."""
    if name == "wall_time":
        total = 0.0
        for part in seconds.values():
            total += part
        return total if total > 0 else None
    if name == "env_steps_per_s":
        steps = sum(BUDGET[task] for task in LEARNT[run.rpartition("-seed")[0]])
        return steps / seconds["learning"] if seconds.get("learning") else None
    return operations_by_hand(run, facts, acted) if name == "total_flops" else facts.get(name)


@settings(max_examples=25, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(costs_of_runs())
def test_costs_are_what_plain_loops_make_of_the_same_files(
    runs: dict[str, tuple[dict[str, float], dict[str, Any]]],
) -> None:
    suite = make_suite(TASKS, BUDGET, episodes=1, seeds=[0, 1], regimes=["sequential", "scratch", "isolated"])
    assert set(groups(suite)) == set(LEARNT)
    points = {group: {(step, task): 1.0 for step in range(0, 100, 10) for task in TASKS} for group in LEARNT}
    with TemporaryDirectory() as folder:
        curves = replace(curves_of(suite, [points, points]), study=Path(folder))
        wanted: dict[str, dict[str, float | None]] = {}
        for group, learnt in LEARNT.items():
            for seed in suite.seeds:
                run = f"{group}-seed{seed}"
                seconds, facts = runs[run]
                steps = sum(BUDGET[task] for task in learnt)
                place = Path(folder) / "runs" / run
                place.mkdir(parents=True)
                write_status(place / "status.json", Status("done", step=steps, of=steps, seconds=seconds))
                (place / "cost.json").write_text(json.dumps(facts))
                acted = 60 * episodes_of(group)
                wanted[run] = {name: by_hand(run, name, seconds, facts, acted) for name in COSTS}
        found = cost_of_runs(curves)
        assert set(found) == set(wanted)
        for run, costs in wanted.items():
            assert found[run] == pytest.approx(costs), run
        for name in COSTS:
            known = [value for run in wanted.values() if (value := run[name]) is not None]
            of_study = sum(known) if name in ("wall_time", "total_flops") else max(known, default=0)
            if name == "env_steps_per_s" and known:
                of_study = sum(known) / len(known)
            assert value_of(name, curves) == (pytest.approx(of_study) if known else None), name


def episodes_of(group: str) -> int:
    """How many evaluation episodes a run of one episode a task has: of all at 0 and at ends, else of those begun."""
    learnt, count = LEARNT[group], len(LEARNT[group])
    for place, task in enumerate(learnt):
        count += (place + 1) * (BUDGET[task] // 10 - 1) + len(learnt)
    return count

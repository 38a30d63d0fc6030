import pytest
from hypothesis import given
from hypothesis import strategies as st

from etude.curriculum.plan import Checkpoint, RunName, groups_of, plan_run, run_names
from etude.curriculum.suite import Suite
from etude.envs.errors import RequestError

STEPS = st.integers(1, 50)


def suite_of(budgets: list[int], every: int, also: tuple[int, ...] = ()) -> Suite:
    tasks = [f"task{i}" for i in range(len(budgets))]
    return Suite.model_validate(
        {
            "name": "planned",
            "tasks": tasks,
            "budget": dict(zip(tasks, budgets, strict=True)),
            "seeds": [3, 1],
            "evaluation": {"every": every, "also": also},
            "agent": {"algorithm": "PPO"},
        }
    )


def test_sequential_evaluates_the_tasks_begun_and_all_of_them_at_boundaries() -> None:
    plan = plan_run(suite_of([40, 30], every=20), "sequential")
    assert plan.zero == Checkpoint(0, ("task0", "task1"))
    first, second = plan.segments
    assert (first.task, first.start, first.budget, first.end) == ("task0", 0, 40, 40)
    assert first.checkpoints == (Checkpoint(20, ("task0",)), Checkpoint(40, ("task0", "task1")))
    assert (second.task, second.start, second.budget, second.end) == ("task1", 40, 30, 70)
    assert second.checkpoints == (Checkpoint(60, ("task0", "task1")), Checkpoint(70, ("task0", "task1")))


def test_scratch_trains_and_evaluates_the_composition_alone() -> None:
    plan = plan_run(suite_of([40, 30], every=20), "scratch")
    assert [(segment.tasks, segment.start, segment.budget) for segment in plan.segments] == [(("task1",), 0, 30)]
    assert plan.checkpoints == tuple(Checkpoint(step, ("task1",)) for step in (0, 20, 30))


def test_more_offsets_are_counted_from_each_tasks_start_and_left_out_past_its_end() -> None:
    plan = plan_run(suite_of([40, 30], every=20, also=(5, 20, 30)), "sequential")
    assert [checkpoint.step for checkpoint in plan.checkpoints] == [0, 5, 20, 30, 40, 45, 60, 70]


def test_an_interval_longer_than_the_budget_leaves_the_boundaries() -> None:
    plan = plan_run(suite_of([40, 30], every=100), "sequential")
    assert [checkpoint.step for checkpoint in plan.checkpoints] == [0, 40, 70]


def test_an_unknown_group_or_regime_is_refused_with_the_nearest() -> None:
    with pytest.raises(RequestError, match="no group of runs 'sequental'; did you mean sequential"):
        plan_run(suite_of([40], every=20), "sequental")
    with pytest.raises(RequestError, match="no regime 'isolatd'; did you mean isolated?"):
        groups_of(suite_of([40], every=20), "isolatd")


def test_runs_are_named_for_their_regime_and_seed() -> None:
    names = run_names(suite_of([40], every=20))
    assert [str(name) for name in names] == ["sequential-seed3", "sequential-seed1", "scratch-seed3", "scratch-seed1"]
    assert names[0] == RunName("sequential", 3)


@given(st.lists(STEPS, min_size=1, max_size=4), STEPS, st.lists(STEPS, max_size=3, unique=True))
def test_sequential_ends_on_the_curve_that_scratch_is_compared_with(
    budgets: list[int], every: int, also: list[int]
) -> None:
    suite = suite_of(budgets, every, tuple(also))
    plan = plan_run(suite, "sequential")
    steps = [checkpoint.step for checkpoint in plan.checkpoints]
    assert steps == sorted(set(steps))
    assert tuple(segment.end for segment in plan.segments) == suite.ends
    scratch = [checkpoint.step for checkpoint in plan_run(suite, "scratch").checkpoints]
    start = plan.segments[-1].start
    assert [step - start for step in steps if step >= start] == scratch
    assert all(set(segment.checkpoints[-1].tasks) == set(suite.tasks) for segment in plan.segments)

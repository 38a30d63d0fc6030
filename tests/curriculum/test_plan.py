import pytest
from hypothesis import given
from hypothesis import strategies as st

from etude.curriculum.plan import Checkpoint, RunName, groups, groups_of, plan_run, run_names, training_order
from etude.curriculum.suite import REGIMES, Suite
from etude.envs.errors import RequestError

STEPS = st.integers(1, 50)


def suite_of(budgets: list[int], every: int, also: tuple[int, ...] = (), **changes: object) -> Suite:
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
        | changes
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


def test_joint_and_scratch_total_are_evaluated_where_sequential_is() -> None:
    suite = suite_of([40, 30], every=20)
    steps = [checkpoint.step for checkpoint in plan_run(suite, "sequential").checkpoints]
    for group, tasks in (("joint", suite.tasks), ("scratch-total", ("task1",))):
        plan = plan_run(suite, group)
        assert plan.checkpoints == tuple(Checkpoint(step, tasks) for step in steps)
        assert [(segment.tasks, segment.start, segment.end) for segment in plan.segments] == [(tasks, 0, 70)]
    assert plan_run(suite, "joint").segments[0].task == "joint"


def test_isolated_trains_a_task_alone_for_its_own_budget() -> None:
    suite = suite_of([40, 30, 50], every=20)
    assert groups_of(suite, "isolated") == ("isolated-task0", "isolated-task1", "scratch")
    plan = plan_run(suite, "isolated-task1")
    assert [(segment.tasks, segment.budget) for segment in plan.segments] == [(("task1",), 30)]
    assert plan.checkpoints == tuple(Checkpoint(step, ("task1",)) for step in (0, 20, 30))


def test_leave_one_out_leaves_each_primitive_out_and_evaluates_it_all_the_same() -> None:
    suite = suite_of([40, 30, 50], every=20)
    assert groups_of(suite, "leave-one-out") == ("sequential-without-task0", "sequential-without-task1")
    plan = plan_run(suite, "sequential-without-task0")
    assert [(segment.task, segment.start, segment.end) for segment in plan.segments] == [
        ("task1", 0, 30),
        ("task2", 30, 80),
    ]
    assert [checkpoint.step for checkpoint in plan.checkpoints] == [0, 20, 30, 50, 70, 80]
    assert [len(checkpoint.tasks) for checkpoint in plan.checkpoints] == [3, 1, 3, 2, 2, 3]


def test_another_order_changes_when_a_task_is_learnt_and_nothing_else() -> None:
    suite = suite_of([40, 30, 50], every=20, orders=2)
    assert groups(suite) == ("sequential", "sequential-order2", "scratch")
    assert training_order(suite, "sequential-order2") == ("task1", "task0", "task2")
    plan = plan_run(suite, "sequential-order2")
    assert [(segment.task, segment.end) for segment in plan.segments] == [("task1", 30), ("task0", 70), ("task2", 120)]
    assert plan.checkpoints[1] == Checkpoint(20, ("task1",))
    assert plan.checkpoints[3] == Checkpoint(50, ("task0", "task1"))


def test_scratch_is_run_once_though_isolated_has_it_too() -> None:
    suite = suite_of([40, 30], every=20, regimes=["isolated", "scratch", "sequential"])
    assert groups(suite) == ("isolated-task0", "scratch", "sequential")


@given(
    st.lists(STEPS, min_size=2, max_size=5),
    STEPS,
    st.lists(STEPS, max_size=2, unique=True),
    st.lists(st.sampled_from(REGIMES), min_size=1, unique=True),
    st.integers(1, 2),
)
def test_every_groups_plan_is_whole(
    budgets: list[int], every: int, also: list[int], regimes: list[str], orders: int
) -> None:
    orders = orders if "sequential" in regimes and len(budgets) > 2 else 1
    suite = suite_of(budgets, every, tuple(also), regimes=regimes, orders=orders)
    assert len(set(map(str, run_names(suite)))) == len(run_names(suite)) == 2 * len(groups(suite))
    for group in groups(suite):
        plan = plan_run(suite, group)
        steps = [checkpoint.step for checkpoint in plan.checkpoints]
        assert steps == sorted(set(steps)) and steps[0] == 0
        starts = [segment.start for segment in plan.segments]
        assert starts == [0, *(segment.end for segment in plan.segments[:-1])]
        assert sum(segment.budget for segment in plan.segments) == steps[-1]
        evaluated = plan.checkpoints[-1].tasks
        for segment in plan.segments:
            assert segment.checkpoints[-1] == Checkpoint(segment.end, evaluated)
            assert all(set(segment.tasks) <= set(checkpoint.tasks) for checkpoint in segment.checkpoints)
        for checkpoint in plan.checkpoints:
            assert sorted(checkpoint.tasks, key=suite.tasks.index) == list(checkpoint.tasks)
        if group != "joint":
            learnt = training_order(suite, group)
            assert [segment.task for segment in plan.segments] == list(learnt)
            assert learnt[-1] == suite.composition or group == f"isolated-{learnt[0]}"

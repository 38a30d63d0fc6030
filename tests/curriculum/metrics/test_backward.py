import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from etude.curriculum.metrics import backward_transfer
from etude.envs.errors import RequestError
from tests.curriculum.metrics.slow import slow_bwt, slow_share

NAN = math.nan
quick = settings(max_examples=50, deadline=None)
SCORE = st.floats(-50, 120, width=32)


@st.composite
def trainings(draw: st.DrawFn) -> tuple[list[int], list[list[float]], list[int]]:
    """Steps, scores and ends of 2 to 4 tasks over uneven checkpoints."""
    steps = sorted(draw(st.sets(st.integers(0, 10_000), min_size=4, max_size=12)))
    tasks = draw(st.integers(2, min(4, len(steps) - 1)))
    ends = sorted(draw(st.sets(st.sampled_from(steps), min_size=tasks, max_size=tasks)))
    row = st.lists(SCORE, min_size=len(steps), max_size=len(steps))
    return steps, draw(st.lists(row, min_size=tasks, max_size=tasks)), ends


def defined(training: tuple[list[int], list[list[float]], list[int]]) -> float:
    result = backward_transfer(*training)
    assume(result.value is not None)
    assert result.value is not None
    return result.value


def test_the_first_worked_example_loses_30() -> None:
    curve = [0, 50, 100, 80, 60, 40]
    result = backward_transfer([0, 1, 2, 3, 4, 5], [curve, [0] * 6], ends=[2, 5])
    assert result.value == 30
    assert result.per_task.tolist() == [30]
    assert result.learnt.tolist() == [True]
    assert result.reason is None


def test_the_second_worked_example_does_not_let_a_gain_offset_a_loss() -> None:
    result = backward_transfer([0, 10, 20, 40], [[0, 80, 40, 90], [0] * 4], ends=[10, 40])
    assert result.value == pytest.approx(25, rel=1e-15)


def test_the_ceiling_is_reached_by_falling_to_the_floor_at_once() -> None:
    result = backward_transfer([0, 10, 20, 40], [[0, 80, 0, 0], [0] * 4], ends=[10, 40])
    assert result.ceilings.tolist() == pytest.approx([100 * (1 - 10 / (2 * 30))])
    assert result.value == pytest.approx(result.ceilings[0])


def test_the_value_is_the_mean_over_the_learnt_tasks_alone() -> None:
    scores = [[0, 80, 40, 40], [0, 0, -3, 50], [NAN, NAN, 60, 60], [0, 0, 0, 0]]
    result = backward_transfer([0, 10, 20, 30], scores, ends=[10, 20, 20, 30])
    assert result.learnt.tolist() == [True, False, True]
    assert result.per_task.tolist() == pytest.approx([37.5, NAN, 0], nan_ok=True)
    assert result.value == pytest.approx(18.75)


def test_a_score_at_the_floor_is_not_learnt() -> None:
    result = backward_transfer([0, 1, 2], [[0, 5, 9], [0, 0, 0]], ends=[1, 2], floor=5)
    assert result.value is None
    assert result.reason == "no task was learnt: none scored above the floor at its own end"
    assert np.isnan(result.per_task).all() and not result.learnt.any()
    assert result.ceilings.tolist() == [50]


def test_one_task_alone_forgets_nothing_that_can_be_measured() -> None:
    result = backward_transfer([0, 1, 2], [[0, 5, 9]], ends=[2])
    assert (result.value, result.reason) == (None, "needs at least 2 tasks")
    assert result.per_task.shape == result.learnt.shape == result.ceilings.shape == (0,)


def test_a_window_of_one_checkpoint_measures_nothing() -> None:
    result = backward_transfer([0, 1, 2], [[0, 5, 9], [0, 5, 9], [0, 0, 0]], ends=[1, 2, 2])
    assert result.value is None
    assert result.reason == "fewer than 2 checkpoints from the end of task 1 to the end of training"


def test_checkpoints_after_the_end_of_training_do_not_count() -> None:
    steps, scores = [0, 10, 20, 40], [[0, 80, 40, 90], [0] * 4]
    longer = backward_transfer([*steps, 50, 60], [[*row, 0, 0] for row in scores], ends=[10, 40])
    assert longer.value == backward_transfer(steps, scores, ends=[10, 40]).value


def test_nan_is_allowed_before_a_tasks_own_end() -> None:
    scores = [[NAN, 80, 40, 90], [NAN, NAN, NAN, 0]]
    assert backward_transfer([0, 10, 20, 40], scores, ends=[10, 40]).value == pytest.approx(25)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": [[0, 80, NAN, 90], [0] * 4]}, "task 0 has nan at step 20, .* from its own end \\(10\\) on"),
        ({"scores": [[0, NAN, 80, 90], [0] * 4]}, "task 0 has nan at step 10"),
        ({"scores": [[0, 80, 40, 90], [0, 0, 0, math.inf]]}, "task 1 has inf at step 40"),
        ({"scores": [[0, 80, 40], [0] * 3]}, r"scores: shape \(2, 3\), must be \(N, 4\)"),
        ({"scores": [0, 80, 40, 90]}, r"scores: shape \(4,\), must be \(N, 4\)"),
        ({"scores": np.zeros((0, 4)), "ends": []}, "ends: shape"),
        ({"steps": [0, 20, 10, 40]}, "steps: must increase, but 10 follows 20"),
        ({"steps": [0, 10, 10, 40]}, "steps: must increase, but 10 follows 10"),
        ({"steps": [0, 10, NAN, 40]}, "steps: must be finite"),
        ({"steps": [[0, 10, 20, 40]]}, r"steps: shape \(1, 4\), must be \(K,\)"),
        ({"steps": []}, r"steps: shape \(0,\), must be \(K,\)"),
        ({"ends": [15, 40]}, "ends: 15, the end of task 0, is not among the checkpoints"),
        ({"ends": [10, 50]}, "ends: 50, the end of task 1, is not among the checkpoints"),
        ({"ends": [20, 10]}, "ends: a task's end lies before that of the task before it"),
        ({"ends": [10, 20, 40]}, r"ends: shape \(3,\), but 2 rows of scores need \(2,\)"),
        ({"floor": NAN}, "floor: nan is not a finite number"),
    ],
)
def test_a_wrong_argument_is_told_in_one_line(change: dict[str, Any], message: str) -> None:
    right: dict[str, Any] = {"steps": [0, 10, 20, 40], "scores": [[0, 80, 40, 90], [0] * 4], "ends": [10, 40]}
    with pytest.raises(RequestError, match=message) as raised:
        backward_transfer(**{**right, **change})
    assert "\n" not in str(raised.value)


@quick
@given(trainings(), st.floats(-20, 60, width=16))
def test_it_agrees_with_exact_arithmetic(training: tuple[Any, Any, Any], floor: float) -> None:
    steps, scores, ends = training
    result = backward_transfer(steps, scores, ends, floor)
    exact = slow_bwt(steps, scores, ends, floor)
    assert (result.value is None) == (exact is None)
    if exact is not None:
        assert result.value == pytest.approx(float(exact), abs=1e-9)
    for share, curve, end in zip(result.per_task, scores[:-1], ends[:-1], strict=True):
        exact = slow_share(steps, curve, end, ends[-1], floor)
        assert share == pytest.approx(NAN if exact is None else float(exact), abs=1e-9, nan_ok=True)


@quick
@given(trainings())
def test_it_lies_between_0_and_each_ceiling(training: tuple[Any, Any, Any]) -> None:
    result = backward_transfer(*training)
    learnt = result.per_task[result.learnt]
    assert (learnt >= 0).all()
    assert (learnt <= result.ceilings[result.learnt] + 1e-9).all()
    assert (result.ceilings < 100).all()


@quick
@given(trainings(), st.integers(1, 1000), st.integers(-10_000, 10_000))
def test_it_does_not_depend_on_the_unit_or_the_zero_of_steps(
    training: tuple[Any, Any, Any], scale: int, shift: int
) -> None:
    steps, scores, ends = training
    moved = ([scale * step + shift for step in steps], scores, [scale * end + shift for end in ends])
    assert defined(moved) == pytest.approx(defined(training), abs=1e-9)


@quick
@given(trainings(), st.floats(0.25, 64))
def test_it_does_not_depend_on_the_unit_of_scores(training: tuple[Any, Any, Any], scale: float) -> None:
    steps, scores, ends = training
    assert defined((steps, scale * np.array(scores), ends)) == pytest.approx(defined(training), abs=1e-6)


@quick
@given(trainings(), st.lists(st.floats(0.1, 200), min_size=4, max_size=4))
def test_a_policy_that_does_not_change_forgets_exactly_nothing(
    training: tuple[Any, Any, Any], levels: list[float]
) -> None:
    steps, scores, ends = training
    flat = [[level] * len(steps) for level, _ in zip(levels, scores, strict=False)]
    result = backward_transfer(steps, flat, ends)
    assert result.value == 0
    assert (result.per_task == 0).all()


@quick
@given(trainings(), st.data())
def test_a_later_gain_changes_nothing(training: tuple[Any, Any, Any], data: st.DataObject) -> None:
    steps, scores, ends = training
    before = defined(training)
    gained = []
    for curve, end in zip(scores, ends, strict=True):
        learnt = curve[steps.index(end)]
        gained.append(
            [
                score + data.draw(st.floats(0, 50)) if step > end and score >= learnt else score
                for step, score in zip(steps, curve, strict=True)
            ]
        )
    assert defined((steps, gained, ends)) == before


@quick
@given(trainings(), st.data())
def test_scores_before_a_tasks_own_end_change_nothing(training: tuple[Any, Any, Any], data: st.DataObject) -> None:
    steps, scores, ends = training
    other = [
        [data.draw(SCORE | st.just(NAN)) if step < end else score for step, score in zip(steps, curve, strict=True)]
        for curve, end in zip(scores, ends, strict=True)
    ]
    assert defined((steps, other, ends)) == defined(training)


@quick
@given(trainings(), st.data())
def test_a_checkpoint_added_on_a_straight_piece_changes_nothing(
    training: tuple[Any, Any, Any], data: st.DataObject
) -> None:
    """As long as no curve crosses its C_i, or the floor, there: the maximum is taken at the checkpoints."""
    steps, scores, ends = training
    straight = [place for place in range(len(steps) - 1) if not _crossed(steps, scores, ends, place)]
    assume(straight)
    place = data.draw(st.sampled_from(straight))
    between = (steps[place] + steps[place + 1]) / 2
    finer = [*steps[: place + 1], between, *steps[place + 1 :]]
    filled = [[*curve[: place + 1], sum(curve[place : place + 2]) / 2, *curve[place + 1 :]] for curve in scores]
    assert defined((finer, filled, ends)) == pytest.approx(defined(training), abs=1e-9)


def _crossed(steps: list[int], scores: list[list[float]], ends: list[int], place: int) -> bool:
    for curve, end in zip(scores[:-1], ends[:-1], strict=True):
        for bound in (curve[steps.index(end)], 0.0):
            if steps[place] >= end and (curve[place] - bound) * (curve[place + 1] - bound) < 0:
                return True
    return False


def test_a_checkpoint_added_where_the_curve_crosses_its_learnt_score_does_change_it() -> None:
    coarse = backward_transfer([0, 1, 3], [[0, 50, 0], [0] * 3], ends=[1, 3]).value
    crossed = backward_transfer([0, 1, 2, 3], [[0, 50, 75, 0], [0] * 4], ends=[1, 3]).value
    finer = backward_transfer([0, 1, 2, 2 + 1 / 3, 3], [[0, 50, 75, 50, 0], [0] * 5], ends=[1, 3]).value
    assert coarse == 50
    assert crossed == pytest.approx(25)
    assert finer == pytest.approx(100 / 6)


@quick
@given(trainings(), st.floats(-30, 30, width=16))
def test_only_the_height_above_the_floor_matters(training: tuple[Any, Any, Any], floor: float) -> None:
    steps, scores, ends = training
    result = backward_transfer(steps, np.array(scores) + floor, ends, floor=floor)
    wanted = backward_transfer(steps, scores, ends)
    assume((result.learnt == wanted.learnt).all() and wanted.value is not None)
    heights = [curve[steps.index(end)] for curve, end in zip(scores[:-1], ends[:-1], strict=True)]
    assume(all(abs(height) > 1e-2 for height in heights))
    assert result.value == pytest.approx(wanted.value, abs=1e-3)


@quick
@given(trainings())
def test_falling_below_the_floor_loses_no_more_than_falling_to_it(training: tuple[Any, Any, Any]) -> None:
    steps, scores, ends = training
    assert defined((steps, np.maximum(scores, 0), ends)) == defined(training)

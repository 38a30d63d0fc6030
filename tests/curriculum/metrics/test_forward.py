import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etude.curriculum.metrics import forward_transfer
from etude.envs.errors import RequestError
from tests.curriculum.metrics.slow import slow_fwt

quick = settings(max_examples=50, deadline=None)
SCORE = st.floats(-50, 120, width=32)


@st.composite
def curves(draw: st.DrawFn) -> tuple[list[int], list[float], list[float]]:
    """Steps and two curves over uneven checkpoints."""
    steps = sorted(draw(st.sets(st.integers(0, 10_000), min_size=2, max_size=12)))
    curve = st.lists(SCORE, min_size=len(steps), max_size=len(steps))
    return steps, draw(curve), draw(curve)


def test_it_is_the_lead_averaged_over_time() -> None:
    # Leads of 0, 40, 0 over intervals of 10 and 30: an area of 200 + 600 over 40 steps.
    assert forward_transfer([0, 10, 40], [0, 60, 90], [0, 20, 90]) == 20


def test_a_constant_lead_is_worth_itself_whatever_the_spacing() -> None:
    assert forward_transfer([0, 1, 10, 11, 100], [17, 27, 57, 97, 107], [10, 20, 50, 90, 100]) == 7


def test_practice_that_harms_is_negative() -> None:
    assert forward_transfer([0, 10], [0, 0], [0, 100]) == -50


@quick
@given(curves())
def test_it_agrees_with_exact_arithmetic(both: tuple[Any, Any, Any]) -> None:
    assert forward_transfer(*both) == pytest.approx(float(slow_fwt(*both)), abs=1e-9)


@quick
@given(curves())
def test_changing_the_regimes_places_changes_the_sign_alone(both: tuple[Any, Any, Any]) -> None:
    steps, sequential, scratch = both
    assert forward_transfer(steps, scratch, sequential) == -forward_transfer(steps, sequential, scratch)


@quick
@given(curves())
def test_equal_curves_transfer_exactly_nothing(both: tuple[Any, Any, Any]) -> None:
    steps, sequential, _ = both
    assert forward_transfer(steps, sequential, sequential) == 0


@quick
@given(curves(), st.integers(1, 1000), st.integers(-10_000, 10_000))
def test_it_does_not_depend_on_the_unit_or_the_zero_of_steps(
    both: tuple[Any, Any, Any], scale: int, shift: int
) -> None:
    steps, sequential, scratch = both
    moved = forward_transfer(scale * np.array(steps) + shift, sequential, scratch)
    assert moved == pytest.approx(forward_transfer(*both), abs=1e-9)


@quick
@given(curves(), st.data())
def test_a_checkpoint_added_on_a_straight_piece_changes_nothing(
    both: tuple[Any, Any, Any], data: st.DataObject
) -> None:
    steps, *two = both
    place = data.draw(st.integers(0, len(steps) - 2))
    finer = [*steps[: place + 1], sum(steps[place : place + 2]) / 2, *steps[place + 1 :]]
    filled = [[*curve[: place + 1], sum(curve[place : place + 2]) / 2, *curve[place + 1 :]] for curve in two]
    assert forward_transfer(finer, *filled) == pytest.approx(forward_transfer(*both), abs=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": [0]}, "steps: forward transfer needs at least 2 checkpoints"),
        ({"steps": [0, 10, 10]}, "steps: must increase, but 10 follows 10"),
        ({"sequential": [0, 1]}, r"sequential: shape \(2,\), must be \(3,\)"),
        ({"scratch": [[0, 1, 2]]}, r"scratch: shape \(1, 3\), must be \(3,\)"),
        ({"sequential": [0, math.nan, 1]}, "sequential: the score at step 10 is nan, not finite"),
        ({"scratch": [0, 1, math.inf]}, "scratch: the score at step 40 is inf, not finite"),
    ],
)
def test_a_wrong_argument_is_told_in_one_line(change: dict[str, Any], message: str) -> None:
    right: dict[str, Any] = {"steps": [0, 10, 40], "sequential": [0, 60, 90], "scratch": [0, 20, 90]}
    with pytest.raises(RequestError, match=message) as raised:
        forward_transfer(**{**right, **change})
    assert "\n" not in str(raised.value)

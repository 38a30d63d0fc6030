import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from etude.curriculum.metrics.trajectory import largest_drop

SCORES = st.floats(-200, 200)


@given(
    st.lists(st.tuples(st.integers(1, 9), SCORES, SCORES), min_size=1, max_size=20),
    st.one_of(st.integers(0, 40), st.floats(0, 40)),
)
def test_the_largest_drop_is_that_of_any_two_checkpoints_near_enough(
    points: list[tuple[int, float, float]], width: float
) -> None:
    gaps, *curves = zip(*points, strict=True)
    steps = np.cumsum(gaps)
    near = [(s, t) for t in range(len(steps)) for s in range(t) if steps[t] - steps[s] <= width]
    found = largest_drop(steps, np.array(curves), width)
    if not near:
        assert found is None
    else:
        assert found is not None
        assert found.tolist() == [max(0.0, *(curve[s] - curve[t] for s, t in near)) for curve in curves]


def test_a_drop_over_exactly_the_width_counts() -> None:
    assert largest_drop(np.array([0, 10, 20]), np.array([90.0, 80.0, 50.0]), 10) == pytest.approx(30)
    assert largest_drop(np.array([0, 10, 20]), np.array([90.0, 80.0, 50.0]), 20) == pytest.approx(40)

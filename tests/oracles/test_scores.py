from typing import Any

import numpy as np
import pytest

from etude.envs import RequestError
from etude.oracles import ceiling, floor, score


def reference(oracle: list[float], random: list[float], zero: list[float], **more: list[float]) -> dict[str, Any]:
    returns = {"oracle": oracle, "random": random, "zero": zero} | more
    return {"fingerprint": {"task": "reach"}} | {name: {"returns": values} for name, values in returns.items()}


def test_the_floor_is_the_larger_mean_of_the_failing_policies() -> None:
    assert floor(reference([50], [1, 3], [4, 0])) == 2
    assert floor(reference([50], [1, 3], [5, 5])) == 5


def test_a_task_may_bring_a_floor_of_its_own() -> None:
    assert floor(reference([50], [1], [2], floor=[10, 20])) == 15


def test_the_ceiling_is_the_oracles_mean_return() -> None:
    assert ceiling(reference([40, 60], [0], [0])) == 50


def test_a_score_is_the_share_of_the_way_from_floor_to_oracle() -> None:
    scores = score([10, 50, 30, 0, 70], reference([40, 60], [10], [0]))
    assert scores.tolist() == [0, 100, 50, -25, 150]


def test_scores_keep_the_shape_of_the_returns() -> None:
    assert score(np.zeros((2, 3)), reference([1], [0], [0])).shape == (2, 3)


def test_negative_returns_have_scores_too() -> None:
    assert score(-300.0, reference([-200], [-400], [-500])) == 50


@pytest.mark.parametrize("oracle", [9.0, 10.0, 10.001])
def test_an_oracle_no_better_than_failing_gives_no_score(oracle: float) -> None:
    with pytest.raises(RequestError, match=r"task 'reach': no score, since its oracle's mean return"):
        score(10, reference([oracle], [10], [0]))

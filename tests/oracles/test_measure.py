import json

import numpy as np
import pytest
from scipy.stats import bootstrap

from etude.envs import RequestError
from etude.oracles import Episodes, measure_oracle
from etude.oracles.measure import margin_fault, summary

KEYS = {"return", "success", "variation", "return_interval", "success_interval"}


def episodes(returns: list[float], successes: int) -> Episodes:
    n = len(returns)
    return Episodes(np.array(returns), np.arange(n) < successes, np.full(n, 60))


def test_a_measure_is_json_of_fractions_and_intervals() -> None:
    measured = measure_oracle("reach", 8, seed=3)
    assert json.loads(json.dumps(measured, allow_nan=False)) == measured
    assert [measured["task"], measured["episodes"], measured["seed"]] == ["reach", 8, 3]
    for policy in ("oracle", "random", "zero"):
        assert set(measured[policy]) == KEYS
        low, high = measured[policy]["return_interval"]
        assert low <= measured[policy]["return"] <= high
        low, high = measured[policy]["success_interval"]
        assert 0 <= low <= measured[policy]["success"] <= high <= 1


def test_the_seed_chooses_the_starts() -> None:
    first = measure_oracle("reach", 2, seed=0)
    assert measure_oracle("reach", 2, seed=0) == first
    assert measure_oracle("reach", 2, seed=1)["oracle"]["return"] != first["oracle"]["return"]


def test_intervals_agree_with_their_sources() -> None:
    returns = np.random.default_rng(0).normal(50, 2, 400)
    found = summary(episodes(returns.tolist(), 396))
    again = bootstrap((returns,), np.mean, method="basic", rng=np.random.default_rng(1)).confidence_interval
    assert found["return_interval"] == pytest.approx([again.low, again.high], abs=0.03)
    assert found["success_interval"] == pytest.approx([0.9746, 0.9961], abs=1e-4)
    assert found["variation"] == pytest.approx(returns.std(ddof=1) / returns.mean())


def test_certain_success_still_has_an_interval() -> None:
    low, high = summary(episodes([1.0] * 500, 500))["success_interval"]
    assert low == pytest.approx(0.9924, abs=1e-4) and high == 1


def test_what_one_episode_cannot_tell_is_none() -> None:
    found = summary(episodes([3.0], 1))
    assert found["return"] == 3 and found["variation"] is None and found["return_interval"] is None


def test_returns_of_mean_zero_have_no_variation() -> None:
    assert summary(episodes([0.0, 0.0], 0))["variation"] is None


@pytest.mark.parametrize(
    ("count", "seed", "line"), [(0, 0, "episodes: 0; must be at least 1"), (1, -1, "seed: -1; must be at least 0")]
)
def test_wrong_numbers_are_refused(count: int, seed: int, line: str) -> None:
    with pytest.raises(RequestError, match=line):
        measure_oracle("reach", count, seed)


def test_an_unknown_task_is_refused() -> None:
    with pytest.raises(RequestError, match="unknown task 'reech'"):
        measure_oracle("reech", 1)


def test_an_oracle_no_better_than_its_floor_is_told_in_the_words_of_a_study() -> None:
    rows = {"oracle": {"return": 5.0}, "random": {"return": 5.0}, "zero": {"return": 1.0}}
    assert margin_fault({"task": "reach", "episodes": 2, "seed": 0} | rows).startswith("task 'reach': no score, since")
    assert not margin_fault({"task": "reach", "episodes": 2, "seed": 0} | rows | {"oracle": {"return": 6.0}})

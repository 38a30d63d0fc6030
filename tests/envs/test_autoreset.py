"""The batched environment against Gymnasium's own vector environment over the single one, value for value."""

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from etude.envs.tabletop.reach import Reach
from etude.envs.vector import TabletopVectorEnv

N, HORIZON = 4, 7


@pytest.fixture(autouse=True)
def short_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reach, "horizon", HORIZON)


def pair(mode: AutoresetMode) -> tuple[TabletopVectorEnv, SyncVectorEnv[Any, Any]]:
    single: Callable[[], gym.Env[Any, Any]] = partial(gym.make, "etude/Reach-v0")
    return TabletopVectorEnv("reach", N, autoreset_mode=mode), SyncVectorEnv([single] * N, autoreset_mode=mode)


def assert_same(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert data_equivalence(a, b, exact=True), (a, b)


def mask(*which: int) -> dict[str, NDArray[np.bool_]]:
    return {"reset_mask": np.isin(np.arange(N), which)}


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_episodes_that_end_apart_are_followed_as_gymnasium_does(
    mode: AutoresetMode, actions: NDArray[np.float32]
) -> None:
    ours, theirs = pair(mode)
    assert_same(ours.reset(seed=3), theirs.reset(seed=3))
    for step in range(4 * HORIZON):
        if step == 2:
            assert_same(ours.reset(options=mask(1)), theirs.reset(options=mask(1)))
        if step == 4:
            seeds = [None, None, 17, 18]
            assert_same(ours.reset(seed=seeds, options=mask(2, 3)), theirs.reset(seed=seeds, options=mask(2, 3)))
        assert_same(ours.step(actions[step, :N]), theirs.step(actions[step, :N]))


def test_without_autoreset_a_mask_starts_the_next_episodes(actions: NDArray[np.float32]) -> None:
    ours, theirs = pair(AutoresetMode.DISABLED)
    assert_same(ours.reset(seed=[5, 6, 7, 8]), theirs.reset(seed=[5, 6, 7, 8]))
    for step in range(4 * HORIZON):
        if step == 3:
            assert_same(ours.reset(options=mask(0, 2)), theirs.reset(options=mask(0, 2)))
        ours_step, theirs_step = ours.step(actions[step, :N]), theirs.step(actions[step, :N])
        assert_same(ours_step, theirs_step)
        truncated = ours_step[3]
        if truncated.any():
            with pytest.raises(ResetNeeded, match="are over"):
                ours.step(actions[step, :N])
            assert_same(ours.reset(options={"reset_mask": truncated}), theirs.reset(options={"reset_mask": truncated}))


def test_the_callers_options_are_left_as_they_were() -> None:
    env, options = TabletopVectorEnv("reach", N), mask(1)
    env.reset(seed=0)
    env.reset(options=options)
    assert list(options) == ["reset_mask"]


def test_the_generators_are_those_of_the_single_environments() -> None:
    ours, theirs = pair(AutoresetMode.NEXT_STEP)
    ours.reset(seed=9)
    theirs.reset(seed=9)
    assert ours.np_random_seed == theirs.np_random_seed == (9, 10, 11, 12)
    assert [g.bit_generator.state for g in ours.np_random] == [g.bit_generator.state for g in theirs.np_random]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ([True] * N, TypeError),
        (np.ones(N), TypeError),
        (np.ones(N + 1, np.bool_), ValueError),
        (np.zeros(N, np.bool_), ValueError),
    ],
)
def test_a_wrong_mask_is_refused_as_gymnasium_does(bad: Any, error: type[Exception]) -> None:
    for env in pair(AutoresetMode.DISABLED):
        env.reset(seed=0)
        with pytest.raises(error, match="reset_mask"):
            env.reset(options={"reset_mask": bad})


def test_seeds_must_be_as_many_as_environments() -> None:
    for env in pair(AutoresetMode.DISABLED):
        with pytest.raises(ValueError, match="seeds"):
            env.reset(seed=[1, 2])


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_step_needs_a_reset_before_it(mode: AutoresetMode) -> None:
    with pytest.raises(ResetNeeded):
        TabletopVectorEnv("reach", N, autoreset_mode=mode).step(np.zeros((N, 4)))

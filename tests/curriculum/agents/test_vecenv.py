import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from etude.curriculum.agents import Diverged
from etude.curriculum.agents.vecenv import SB3Envs
from etude.envs import make_vector


def test_the_last_observation_of_an_episode_is_handed_on_as_sb3_wants_it() -> None:
    envs = SB3Envs(make_vector("reach", 3))
    envs.envs.reset(seed=[1, 2, 3])
    envs.reset()
    actions = np.full((3, 4), 0.4, np.float32)
    for _ in range(59):
        observations, rewards, dones, infos = envs.step(actions)
        assert not dones.any() and infos == [{}, {}, {}]
    assert rewards.dtype == np.float32
    before = observations
    observations, _, dones, infos = envs.step(actions)
    assert dones.all()
    for i in range(3):
        assert infos[i]["TimeLimit.truncated"] is True
        last = infos[i]["terminal_observation"]
        assert np.abs(last - before[i]).max() < np.abs(last - observations[i]).max(), (
            "the episode's last, not the next's first"
        )


def test_a_terminated_episode_is_not_a_truncated_one() -> None:
    envs = gym.make_vec(
        "CartPole-v1", num_envs=2, vectorization_mode="sync", vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP}
    )
    envs.reset(seed=1)
    adapted = SB3Envs(envs)
    adapted.reset()
    while True:
        _, _, dones, infos = adapted.step(np.ones(2, np.int64))
        if dones.any():
            break
    assert infos[int(np.flatnonzero(dones)[0])]["TimeLimit.truncated"] is False


def test_environments_of_another_autoreset_mode_are_refused() -> None:
    with pytest.raises(ValueError, match="SAME_STEP"):
        SB3Envs(make_vector("reach", 1, autoreset_mode=AutoresetMode.NEXT_STEP))


def test_actions_that_are_not_finite_never_reach_the_simulator() -> None:
    envs = SB3Envs(make_vector("reach", 1))
    with pytest.raises(Diverged):
        envs.step_async(np.array([[0.1, np.nan, 0, 0]]))

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

from etude.envs import RequestError, get_task, make_vector, task_ids
from etude.envs.single import TabletopEnv
from etude.envs.vector import TabletopVectorEnv


@pytest.mark.parametrize("task_id", task_ids())
def test_make_and_make_vec_play_the_same_task(task_id: str) -> None:
    single, vector = gym.make(get_task(task_id).gymnasium_id), gym.make_vec(get_task(task_id).gymnasium_id, num_envs=3)
    assert isinstance(single.unwrapped, TabletopEnv) and isinstance(vector.unwrapped, TabletopVectorEnv)
    assert single.observation_space == vector.single_observation_space
    assert single.action_space == vector.single_action_space
    assert np.array_equal(vector.reset(seed=5)[0][2], single.reset(seed=7)[0])


def test_the_autoreset_mode_is_a_plain_keyword() -> None:
    for mode in AutoresetMode:
        for value in (mode, mode.value):
            env = gym.make_vec("etude/Reach-v0", num_envs=2, autoreset_mode=value)
            assert env.metadata["autoreset_mode"] is mode
    assert make_vector("reach", 2).metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert gym.make_vec("etude/Reach-v0", num_envs=2).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


def test_specs_become_json_and_come_back() -> None:
    single, vector = gym.make("etude/Reach-v0"), make_vector("reach", 3, threads=2)
    assert single.spec is not None and vector.spec is not None
    again = gym.make(EnvSpec.from_json(single.spec.to_json()))
    assert np.array_equal(again.reset(seed=0)[0], single.reset(seed=0)[0])
    several = gym.make_vec(EnvSpec.from_json(vector.spec.to_json()))
    assert several.num_envs == 3 and several.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert np.array_equal(several.reset(seed=0)[0], vector.reset(seed=0)[0])


def test_gymnasiums_own_vector_environments_hold_the_single_one() -> None:
    sync = gym.make_vec("etude/Reach-v0", num_envs=2, vectorization_mode="sync")
    assert np.array_equal(sync.reset(seed=3)[0], make_vector("reach", 2).reset(seed=3)[0])
    sync.close()


@pytest.mark.parametrize("wrong", [{"num_envs": 0}, {"threads": 0}, {"render_mode": "human"}, {"task": "raech"}])
def test_a_wrong_request_is_one_line(wrong: dict[str, object]) -> None:
    with pytest.raises(RequestError) as caught:
        TabletopVectorEnv(**{"task": "reach"} | wrong)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)

import gymnasium
import numpy as np
import pytest

from etude.curriculum.evaluator import task_envs
from etude.curriculum.observations import EpisodeTally, PartIdentity, TaskIdentity
from etude.curriculum.suite import load_suite
from etude.envs import get_task, make_vector
from etude.envs.errors import RequestError, RunError
from etude.oracles import get_oracle


def test_the_one_hot_follows_every_observation_also_the_last_of_an_episode() -> None:
    plain, told = make_vector("reach", 2), TaskIdentity(make_vector("reach", 2), place=1, tasks=3)
    size = plain.single_observation_space.shape[0]
    assert told.single_observation_space.shape == (size + 3,)
    assert told.observation_space.shape == (2, size + 3)
    first, _ = told.reset(seed=[4, 5])
    assert np.array_equal(first[:, :size], plain.reset(seed=[4, 5])[0])
    assert (first[:, size:] == [0, 1, 0]).all()
    actions = np.full((2, 4), 0.5, np.float32)
    for _ in range(60):
        observations, _, _, truncations, infos = told.step(actions)
        expected, _, _, _, expected_infos = plain.step(actions)
        assert np.array_equal(observations[:, :size], expected) and (observations[:, size:] == [0, 1, 0]).all()
    assert truncations.all()
    for i in range(2):
        assert np.array_equal(infos["final_obs"][i][:size], expected_infos["final_obs"][i])
        assert told.single_observation_space.contains(infos["final_obs"][i])
        assert infos["final_obs"][i][size:].tolist() == [0, 1, 0]


def test_a_composition_tells_the_part_whose_turn_it_is_also_of_the_last_observation_of_an_episode() -> None:
    suite = load_suite("pick-place")
    envs = task_envs(suite, "pick-place", 3)
    task, oracle = get_task("pick-place"), get_oracle("pick-place")(3)
    oracle.reset(np.arange(3))
    observations, _ = envs.reset(seed=1)
    told = [observations[:, -5:].argmax(axis=1)]
    for _ in range(task.horizon):
        observations, _, _, _, infos = envs.step(oracle.act(envs.unwrapped.privileged_state()))  # type: ignore[attr-defined]
        assert (observations[:, -5:].sum(axis=1) == 1).all()
        told.append(observations[:, -5:].argmax(axis=1))
    for row, steps in enumerate(np.array(told)[:-1].T):
        assert [suite.tasks[k] for k in dict.fromkeys(steps)] == list(task.parts), f"row {row}"
    assert (told[-1] == suite.tasks.index("grasp")).all(), "the next episode has begun"
    last = np.array([observation[-5:] for observation in infos["final_obs"]])
    assert (last.argmax(axis=1) == suite.tasks.index("place")).all()
    assert envs.single_observation_space.contains(infos["final_obs"][0])


def test_of_a_primitive_its_own_place_is_told_whether_parts_are_or_not() -> None:
    suite = load_suite("pick-place")
    for mode in ("part", "onehot"):
        envs = task_envs(suite.model_copy(update={"task_id": mode}), "carry", 2)
        assert (envs.reset(seed=0)[0][:, -5:] == [0, 0, 1, 0, 0]).all()


def test_environments_that_know_no_parts_cannot_tell_them() -> None:
    gym_envs = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make("Pendulum-v1")])
    with pytest.raises(RequestError, match="task_id: part needs a composition of tabletop tasks"):
        PartIdentity(gym_envs, [0, 1], 2)


def test_the_tally_tells_returns_and_successes_of_ended_episodes_once() -> None:
    envs = EpisodeTally(make_vector("reach", 3))
    envs.reset(seed=[1, 2, 3])
    actions = np.zeros((3, 4), np.float32)
    total = np.zeros(3)
    for _ in range(59):
        total += envs.step(actions)[1]
    assert envs.take() == {"episodes": 0}
    total += envs.step(actions)[1]
    assert envs.take() == {"episodes": 3, "return": pytest.approx(total.mean()), "success": 0}
    assert envs.take() == {"episodes": 0}


def test_the_tally_goes_on_from_a_snapshot() -> None:
    envs, others = EpisodeTally(make_vector("reach", 2)), EpisodeTally(make_vector("reach", 2))
    envs.reset(seed=[1, 2])
    actions = np.full((2, 4), 0.3, np.float32)
    for _ in range(30):
        envs.step(actions)
    others.restore(envs.snapshot())
    for _ in range(40):
        assert all(np.array_equal(a, b) for a, b in zip(envs.step(actions)[:4], others.step(actions)[:4], strict=True))
    assert envs.take() == others.take()


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"past": np.array([None])}, r"snapshot\(\)\['past'\] is an array of object; must be an array"),
        ({"past": [1.0]}, r"snapshot\(\)\['past'\] is list; must be an array"),
        ({"tally": np.zeros(2)}, r"snapshot\(\)\['tally'\] is an array of float64; must be .* not named tally"),
    ],
)
def test_a_snapshot_that_no_save_can_hold_is_told(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, object], told: str
) -> None:
    envs = EpisodeTally(make_vector("reach", 2))
    monkeypatch.setattr(type(envs.unwrapped), "snapshot", lambda self: state)
    with pytest.raises(RunError, match=told):
        envs.snapshot()

import numpy as np
import pytest

from etude import register_environment
from etude.curriculum.evaluator import task_envs
from etude.curriculum.joint import JointEnvs, training_envs, training_seeds
from etude.curriculum.observations import EpisodeTally
from etude.envs import make_vector, stream_seed
from tests.curriculum.conftest import small_suite

SUITE = small_suite()


def test_every_row_is_what_it_is_in_an_environment_of_its_task_alone() -> None:
    joined = training_envs(SUITE, SUITE.tasks)
    alone = [task_envs(SUITE, task, 2) for task in SUITE.tasks]
    seeds = training_seeds(SUITE, SUITE.tasks, seed=7)
    assert (joined.num_envs, len(seeds)) == (4, 4)
    first, _ = joined.reset(seed=seeds)
    rows = (slice(0, 2), slice(2, 4))
    for envs, own in zip(alone, rows, strict=True):
        assert np.array_equal(first[own], envs.reset(seed=seeds[own])[0])
    actions = np.random.default_rng(0).uniform(-1, 1, (65, 4, 4)).astype(np.float32)
    ends = 0
    for moves in actions:
        *arrays, infos = joined.step(moves)
        for envs, own in zip(alone, rows, strict=True):
            *expected, expected_infos = envs.step(moves[own])
            for ours, theirs in zip(arrays, expected, strict=True):
                assert np.array_equal(ours[own], theirs)
            if "final_obs" in expected_infos:
                ends += 1
                assert np.array_equal(np.stack(infos["final_obs"][own]), np.stack(expected_infos["final_obs"]))
                assert infos["_final_obs"][own].all()
                assert np.array_equal(infos["final_info"]["success"][own], expected_infos["final_info"]["success"])
    assert ends == 2


def test_rows_that_go_on_have_no_last_observation() -> None:
    parts = [make_vector(task, 1) for task in ("reach", "press-button")]
    joined = JointEnvs(parts)
    joined.reset(seed=3)
    for _ in range(30):
        joined.step(np.zeros((2, 4), np.float32))
    parts[0].reset(seed=3)
    for _ in range(30):
        *_, infos = joined.step(np.zeros((2, 4), np.float32))
    assert infos["_final_obs"].tolist() == infos["final_info"]["_success"].tolist() == [False, True]
    assert infos["final_obs"][0] is None and infos["final_obs"][1].shape == joined.single_observation_space.shape


def test_an_integer_seeds_the_rows_one_after_another() -> None:
    joined = training_envs(SUITE, SUITE.tasks)
    assert np.array_equal(joined.reset(seed=5)[0], joined.reset(seed=[5, 6, 7, 8])[0])


def test_a_tasks_starts_are_the_same_whether_it_is_learnt_alone_or_beside_others() -> None:
    alone = training_seeds(SUITE, ["press-button"], seed=1)
    assert alone == [stream_seed(1, "training", "press-button", i) for i in range(4)]
    assert training_seeds(SUITE, SUITE.tasks, seed=1)[2:] == alone[:2]


def test_it_goes_on_from_a_snapshot_with_the_same_bits() -> None:
    envs, others = (EpisodeTally(training_envs(SUITE, SUITE.tasks)) for _ in range(2))
    envs.reset(seed=[1, 2, 3, 4])
    actions = np.random.default_rng(1).uniform(-1, 1, (100, 4, 4)).astype(np.float32)
    for moves in actions[:30]:
        envs.step(moves)
    assert envs.exact
    others.restore(envs.snapshot())
    for moves in actions[30:]:
        assert all(np.array_equal(a, b) for a, b in zip(envs.step(moves)[:4], others.step(moves)[:4], strict=True))
    assert envs.take() == others.take()


@pytest.mark.parametrize("others", [(), ("reach",)])
def test_it_is_not_exact_where_one_of_its_tasks_has_no_snapshot(others: tuple[str, ...]) -> None:
    register_environment("InvertedPendulum-v5", id="pole", privileged=lambda env: {}, success=lambda env: True)
    parts = [make_vector("pole", 1), *(make_vector(task, 1) for task in others)]
    assert not EpisodeTally(JointEnvs(parts)).exact

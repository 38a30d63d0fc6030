from collections.abc import Callable

import numpy as np
import pytest

from etude.envs import task_ids
from etude.envs.tabletop.scene import BUTTON_PRESSED
from etude.envs.vector import TabletopVectorEnv

MakeVector = Callable[..., TabletopVectorEnv]


@pytest.fixture
def started(make: MakeVector) -> TabletopVectorEnv:
    env = make("reach", 1000)
    env.reset(seed=0)
    return env


def test_the_starts_fill_their_ranges(started: TabletopVectorEnv) -> None:
    scene = started.scene
    spans = {
        "cube": np.ptp(scene.cube[:, :2], axis=0) / [0.20, 0.25],
        "yaw": np.ptp(np.degrees(scene.cube_yaw)) / 90,
        "goal": np.ptp(scene.goal, axis=0) / 0.30,
        "handle": np.ptp(scene.handle[:, :2], axis=0) / 0.08,
        "button": np.ptp(scene.button[:, :2], axis=0) / 0.08,
    }
    for name, span in spans.items():
        assert np.all(span > 0.98), name
    for name in ("cube", "yaw", "handle", "button"):
        assert np.all(spans[name] <= 1), name


def test_everything_starts_at_rest_and_in_reach(started: TabletopVectorEnv) -> None:
    scene, batch = started.scene, started.scene.batch
    assert not batch.qvel.any() and not scene.latch.any() and not scene.drawer_locked.any()
    assert np.allclose(scene.tcp, [0.45, 0, 0.22], atol=1e-9)
    low, high = [0.28, -0.42, 0], [0.64, 0.4, 0.37]
    for point in (scene.cube, scene.goal, scene.handle, scene.button, scene.lever):
        assert np.all((point >= low) & (point <= high))


def test_nothing_starts_inside_anything_else(started: TabletopVectorEnv) -> None:
    """Only the four corners of the cube touch, and only the table."""
    batch, model = started.scene.batch, started.scene.model
    table, cube = model.geom("table").id, model.geom("cube").id
    for i in range(0, 1000, 10):
        data = batch.get_data(i)
        pairs = {tuple(sorted(pair)) for pair in data.contact.geom.tolist()}
        assert pairs <= {tuple(sorted((table, cube)))}
        assert data.contact.dist.min(initial=0) > -1e-4


@pytest.mark.parametrize("task_id", task_ids())
def test_no_start_is_solved(task_id: str, make: MakeVector) -> None:
    env = make(task_id, 1000)
    _, info = env.reset(seed=0)
    assert info["success"].dtype == np.bool_ and info["_success"].all() and not info["success"].any()
    if env.task.shows_goal:
        assert np.linalg.norm(env.scene.goal - env.scene.tcp, axis=1).min() > 0.099


def test_successive_episodes_differ(make: MakeVector) -> None:
    env = make("reach", 4)
    first, _ = env.reset(seed=0)
    second, _ = env.reset()
    assert not np.any(np.all(first == second, axis=1))
    assert not np.array_equal(first[0], first[1])


def test_the_goal_marks_what_a_task_asks_for_first(make: MakeVector) -> None:
    for task_id in ("press-button", "unlock-drawer"):
        env = make(task_id, 8)
        env.reset(seed=0)
        assert np.allclose(env.scene.goal, env.scene.button - [0, 0, BUTTON_PRESSED])
    env = make("open-drawer", 8)
    env.reset(seed=0)
    assert np.allclose(env.scene.goal, env.scene.handle)


def test_a_composition_starts_locked(make: MakeVector) -> None:
    env = make("unlock-drawer", 8)
    env.reset(seed=0)
    assert env.scene.drawer_locked.all()

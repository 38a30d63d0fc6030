from collections.abc import Iterator

import numpy as np
import pytest

from etude.envs.tabletop.scene import BUTTON_PRESSED
from etude.envs.vector import TabletopVectorEnv
from etude.oracles import get_oracle

N = 16


@pytest.fixture
def env() -> Iterator[TabletopVectorEnv]:
    env = TabletopVectorEnv("unlock-drawer", N, autoreset_mode="Disabled")
    env.reset(seed=0)
    yield env
    env.close()


def test_the_drawer_does_not_open_until_the_button_has_been_pressed(env: TabletopVectorEnv) -> None:
    oracle = get_oracle("open-drawer")(N)
    oracle.reset(np.arange(N))
    for _ in range(env.task.horizon):
        *_, info = env.step(oracle.act(env.privileged_state()))
        assert not info["success"].any()
    assert np.all(env.scene.drawer_locked == 1) and env.scene.drawer_opening.max() < 0.01


def test_a_press_unlocks_for_good_and_the_goal_moves_on_to_the_handle_and_follows_it(env: TabletopVectorEnv) -> None:
    scene, oracle = env.scene, get_oracle("unlock-drawer")(N)
    oracle.reset(np.arange(N))
    pressed_button, pressed = scene.goal.copy(), np.zeros(N, np.bool_)
    for _ in range(env.task.horizon):
        env.step(oracle.act(env.privileged_state()))
        pressed |= scene.button_depth > BUTTON_PRESSED
        assert np.array_equal(scene.drawer_locked == 0, pressed)
        assert np.array_equal(scene.goal, np.where(pressed[:, None], scene.handle, pressed_button))
    assert pressed.all() and not np.any(scene.button_depth > BUTTON_PRESSED), "it stays unlocked when let go"
    assert scene.drawer_opening.min() > 0.1


def test_the_goal_of_open_drawer_follows_the_handle() -> None:
    env = TabletopVectorEnv("open-drawer", N, autoreset_mode="Disabled")
    env.reset(seed=0)
    oracle = get_oracle("open-drawer")(N)
    oracle.reset(np.arange(N))
    for _ in range(env.task.horizon):
        env.step(oracle.act(env.privileged_state()))
        assert np.array_equal(env.scene.goal, env.scene.handle)
    assert env.scene.drawer_opening.min() > 0.1
    env.close()

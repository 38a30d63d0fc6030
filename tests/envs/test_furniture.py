"""The starts of the tasks that are about the furniture, and when they are solved."""

from collections.abc import Callable

import numpy as np

from etude.envs.tabletop.close_drawer import DRAWER_SHUT
from etude.envs.tabletop.scene import DRAWER_TRAVEL
from etude.envs.vector import TabletopVectorEnv

MakeVector = Callable[..., TabletopVectorEnv]


def test_a_drawer_to_close_is_open_by_8_to_16_cm(make: MakeVector) -> None:
    env = make("close-drawer", 500)
    env.reset(seed=0)
    opening = env.scene.drawer_opening
    assert 0.08 <= opening.min() < 0.082 and 0.158 < opening.max() <= DRAWER_TRAVEL
    gap = env.scene.cube[:, 1] - 0.03 - env.scene.handle[:, 1]
    assert gap.min() > 0.008


def test_a_shut_drawer_is_closed(make: MakeVector) -> None:
    env = make("close-drawer", 2)
    env.reset(seed=0)
    env.scene.drawer_opening[:] = DRAWER_SHUT + np.array([-0.001, 0.001])
    assert env.task.success(env.scene).tolist() == [True, False]


def test_the_levers_goal_is_where_its_tip_comes_to(make: MakeVector) -> None:
    env = make("pull-lever", 200)
    env.reset(seed=0)
    scene = env.scene
    chord = scene.distance(scene.goal, scene.lever)
    assert np.ptp(2 * np.arcsin(chord / 0.2)) > 0.43
    scene.lever_angle[:] = 2 * np.arcsin(chord / 0.2)
    scene.refresh()
    assert scene.distance(scene.goal, scene.lever).max() < 1e-9
    for beyond, solved in ((-0.001, False), (0.002, True)):
        scene.lever_angle[:] += beyond
        scene.refresh()
        assert np.all(env.task.success(scene) == solved)

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box
from numpy.typing import NDArray

from etude.envs import task_ids
from etude.envs.tabletop.observation import PLACES, SIZE, SLOTS, Observer
from etude.envs.vector import TabletopVectorEnv

MakeVector = Callable[..., TabletopVectorEnv]

STARTS = {
    "tcp": 0,
    "handle": 3,
    "button": 6,
    "lever": 9,
    "setpoint": 12,
    "cube": 15,
    "goal": 18,
    "fingers": 21,
    "drawer_opening": 23,
    "drawer_locked": 24,
    "button_depth": 25,
    "lever_angle": 26,
    "cube_to_goal": 27,
    "cube_turn": 30,
}


def test_every_slot_keeps_its_place() -> None:
    assert {word: place.start for word, place in PLACES.items()} == STARTS
    assert SIZE == 32


def test_the_space_is_the_same_bounded_box_in_every_task(make: MakeVector) -> None:
    spaces = [make(task_id).single_observation_space for task_id in task_ids()]
    assert all(space == spaces[0] for space in spaces)
    assert isinstance(spaces[0], Box) and spaces[0].dtype == np.float32 and spaces[0].is_bounded()


def test_slots_read_their_words_in_their_units(make: MakeVector, actions: NDArray[np.float32]) -> None:
    env = make("unlock-drawer", 16)
    env.reset(seed=0)
    for action in actions[:50, :16]:
        observations, *_ = env.step(action)
    scene = env.scene
    for slot in SLOTS:
        values = getattr(scene, slot.word).reshape(16, -1)
        if slot.word == "tcp":
            values = values - [0.45, 0, 0.22]
        elif slot.size == 3 and slot.word != "cube_to_goal":
            values = values - scene.tcp
        expected = np.clip(values / slot.unit, -slot.bound, slot.bound)
        assert np.allclose(observations[:, PLACES[slot.word]], expected, atol=1e-5), slot.word


@pytest.mark.parametrize("turn", [0, np.pi / 2, np.pi, -np.pi / 2])
def test_a_quarter_turn_of_the_cube_is_not_seen(turn: float, make: MakeVector) -> None:
    env = make("reach", 1)
    observations, _ = env.reset(seed=0)
    scene = env.scene
    yaw = scene.cube_yaw + turn
    scene.cube_quaternion[:] = np.stack([np.cos(yaw / 2), 0 * yaw, 0 * yaw, np.sin(yaw / 2)], axis=1)
    scene.refresh()
    assert np.allclose(scene.cube_turn[0], [np.cos(4 * yaw[0]), np.sin(4 * yaw[0])])
    assert np.allclose(Observer(scene)(), observations, atol=1e-5)


def test_observations_stay_inside_their_space(make: MakeVector, actions: NDArray[np.float32]) -> None:
    env = make("unlock-drawer", 64)
    corners = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T.repeat(4, axis=0)
    policies: list[Callable[[int], NDArray[Any]]] = [
        lambda k: actions[k],
        lambda k: corners,
        lambda k: np.sign(actions[k]),
        lambda k: corners * (-1) ** k,
    ]
    for policy in policies:
        observations, _ = env.reset(seed=0)
        for step in range(env.task.horizon):
            assert observations.dtype == np.float32 and env.observation_space.contains(observations)
            observations, *_ = env.step(policy(step))

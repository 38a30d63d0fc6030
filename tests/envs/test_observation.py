from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box
from numpy.typing import NDArray

from etude.envs import task_ids
from etude.envs.tabletop.observation import SIZE, SLOTS, observe
from etude.envs.vector import TabletopVectorEnv

MakeVector = Callable[..., TabletopVectorEnv]

PLACES = {
    "tcp_from_home": 0,
    "setpoint_from_tcp": 3,
    "fingers": 6,
    "cube_from_tcp": 8,
    "cube_turn": 11,
    "goal_from_tcp": 13,
    "pad_from_tcp": 16,
    "handle_from_tcp": 19,
    "drawer_opening": 22,
    "drawer_locked": 23,
    "button_from_tcp": 24,
    "button_depth": 27,
    "lever_from_tcp": 28,
    "lever_angle": 31,
}


def test_every_slot_keeps_its_place() -> None:
    starts = np.cumsum([0, *(slot.size for slot in SLOTS)])
    assert {slot.name: int(start) for slot, start in zip(SLOTS, starts, strict=False)} == PLACES
    assert starts[-1] == SIZE == 32


def test_the_space_is_the_same_bounded_box_in_every_task(make: MakeVector) -> None:
    spaces = [make(task_id).single_observation_space for task_id in task_ids()]
    assert all(space == spaces[0] for space in spaces)
    assert isinstance(spaces[0], Box) and spaces[0].dtype == np.float32 and spaces[0].is_bounded()


def test_slots_read_in_their_units(make: MakeVector) -> None:
    env = make("unlock-drawer", 2)
    observations, _ = env.reset(seed=0)
    scene = env.scene
    button = PLACES["button_from_tcp"]
    assert np.allclose(observations[:, button : button + 3] * 0.25, scene.button - scene.tcp, atol=1e-6)
    assert np.all(observations[:, PLACES["drawer_locked"]] == 1)
    assert np.allclose(observations[:, :6], 0, atol=1e-6)
    scene.drawer_opening[1] = 0.08
    scene.refresh()
    assert np.allclose(observe(scene)[:, PLACES["drawer_opening"]], [0, 0.5])


@pytest.mark.parametrize("turn", [0, np.pi / 2, np.pi, -np.pi / 2])
def test_a_quarter_turn_of_the_cube_is_not_seen(turn: float, make: MakeVector) -> None:
    env = make("reach", 1)
    observations, _ = env.reset(seed=0)
    scene = env.scene
    half = (scene.cube_yaw + turn) / 2
    scene.cube_quaternion[:] = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1)
    scene.refresh()
    assert np.allclose(observe(scene), observations, atol=1e-5)


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

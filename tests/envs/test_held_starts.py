"""A cube that starts in the gripper is held as a grasp leaves it: settled, whoever is reset beside it."""

from collections.abc import Callable

import numpy as np
import pytest

from etude.envs.vector import TabletopVectorEnv

MakeVector = Callable[..., TabletopVectorEnv]

OVER_THE_TABLE = ["lift", "carry", "place", "stack"]
HELD = [*OVER_THE_TABLE, "drop-in-drawer"]
KEEP = np.array([[0, 0, 0, 1.0]])


@pytest.mark.parametrize("task_id", HELD)
def test_a_held_cube_stays_in_the_gripper(task_id: str, make: MakeVector) -> None:
    env = make(task_id, 128)
    env.reset(seed=0)
    scene = env.scene
    before = scene.cube - scene.tcp
    for _ in range(30):
        assert scene.grasped.all()
        env.step(np.repeat(KEEP, 128, axis=0))
    assert np.abs(scene.cube - scene.tcp - before).max() < 0.004


@pytest.mark.parametrize("task_id", OVER_THE_TABLE)
def test_a_held_cube_starts_over_20_by_25_cm_in_any_turn(task_id: str, make: MakeVector) -> None:
    env = make(task_id, 1000)
    env.reset(seed=0)
    assert np.all(np.ptp(env.scene.cube[:, :2], axis=0) > [0.195, 0.245])
    assert np.ptp(np.degrees(env.scene.cube_yaw)) > 88


@pytest.mark.parametrize("task_id", HELD)
def test_a_held_start_has_the_same_bits_alone_and_beside_others(task_id: str, make: MakeVector) -> None:
    together, alone = make(task_id, 40), make(task_id, 1)
    together.reset(seed=7)
    first = together.scene.batch.state.copy()
    alone.reset(seed=7 + 23)
    assert np.array_equal(alone.scene.batch.state[0], first[23])
    for _ in range(5):
        together.step(np.repeat(KEEP, 40, axis=0))
    went_on = together.scene.batch.state.copy()
    mask = np.isin(np.arange(40), [3, 23, 30])
    together.reset(seed=7, options={"reset_mask": mask})
    assert np.array_equal(together.scene.batch.state[mask], first[mask])
    assert np.array_equal(together.scene.batch.state[~mask], went_on[~mask])

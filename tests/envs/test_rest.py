"""What is worked out once in a control step, and what is not kept beyond it."""

import numpy as np
import pytest
from numpy.typing import NDArray

from etude.envs.tabletop.carry import Carry
from etude.envs.tabletop.scene import Scene
from etude.envs.vector import TabletopVectorEnv

STILL = np.zeros((2, 4), np.float32)


def test_a_success_is_asked_once_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    success = Carry.success

    def counted(self: Carry, scene: Scene) -> NDArray[np.bool_]:
        asked.append(self)
        return success(self, scene)

    monkeypatch.setattr(Carry, "success", counted)
    env = TabletopVectorEnv("carry", 2)
    env.reset(seed=0)
    asked.clear()
    env.step(STILL)
    assert len(asked) == 1


def test_a_goal_that_is_moved_between_steps_counts_at_once() -> None:
    env = TabletopVectorEnv("carry", 2)
    env.reset(seed=0)
    env.step(STILL)
    before = env.task.reward(env.scene)
    env.scene.goal[:] = env.scene.cube
    assert np.all(env.task.reward(env.scene) > before) and np.all(env.scene.goal_distance == 0)

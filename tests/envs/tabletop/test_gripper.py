import numpy as np
import pytest

from etude.envs.tabletop.scene import FINGER_OPEN, LET_GO
from etude.envs.vector import TabletopVectorEnv


@pytest.mark.parametrize(
    ("told", "then", "opened"), [(1, 0, False), (1, -0.5, False), (1, -0.6, True), (-1, 0.5, True), (-1, 0.6, False)]
)
def test_the_gripper_keeps_to_what_it_was_told_until_told_otherwise_firmly(
    told: float, then: float, opened: bool
) -> None:
    env = TabletopVectorEnv("reach", 1)
    env.reset(seed=0)
    for gripper in [told] * 15 + [then] * 15:
        env.step(np.array([[0, 0, 0, gripper]], np.float32))
    assert np.allclose(env.scene.fingers, FINGER_OPEN if opened else 0, atol=2e-3)
    env.close()


def test_a_gripper_that_opens_closes_again_only_once_it_is_open() -> None:
    env = TabletopVectorEnv("reach", 1)
    env.reset(seed=0)
    fingers = env.scene.fingers
    for _ in range(15):
        env.step(np.array([[0, 0, 0, 1]], np.float32))
    assert np.allclose(fingers, 0, atol=2e-3)
    env.step(np.array([[0, 0, 0, -1]], np.float32))
    widths = []
    for _ in range(20):
        widths.append(fingers.min())
        env.step(np.array([[0, 0, 0, 1]], np.float32))
    widest = int(np.argmax(widths))
    assert widest > 0 and widths[widest] >= LET_GO
    assert np.all(np.diff(widths[: widest + 1]) > 0) and fingers.max() < 2e-3
    env.close()

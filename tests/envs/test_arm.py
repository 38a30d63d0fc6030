import numpy as np

from etude.envs.tabletop.arm import joint_angles
from etude.envs.tabletop.model import simulated_model
from etude.envs.tabletop.scene import HOME, Scene

LOW, HIGH = [0.3, -0.36, 0.015], [0.62, 0.3, 0.37]


def test_the_angles_bring_the_tool_centre_point_there_and_upright() -> None:
    points = np.random.default_rng(0).uniform(LOW, HIGH, (64, 3))
    scene = Scene(64)
    scene.pose_arm(np.arange(64), points, np.full(64, 0.04), closing=False)
    scene.refresh()
    assert np.abs(scene.tcp - points).max() < 1e-9
    turns = scene.batch.bind("site_xmat")[:, scene.model.site("tcp").id]
    assert np.abs(turns - np.eye(3).ravel()).max() < 1e-9


def test_home_is_one_of_them() -> None:
    assert np.allclose(joint_angles(HOME[None])[0], Scene(1).batch.qpos[0, :7])


def test_they_lie_within_the_joints_limits() -> None:
    angles = joint_angles(np.random.default_rng(0).uniform(LOW, HIGH, (1000, 3)))
    low, high = simulated_model().jnt_range[:7].T
    assert np.all((angles > low) & (angles < high))


def test_an_arm_posed_elsewhere_stays_there() -> None:
    points = np.random.default_rng(0).uniform([0.3, -0.25, 0.15], [0.6, 0.2, 0.35], (16, 3))
    scene = Scene(16)
    scene.pose_arm(np.arange(16), points, np.full(16, 0.04), closing=False)
    scene.refresh()
    for _ in range(50):
        scene.step()
    assert np.abs(scene.tcp - points).max() < 1e-6

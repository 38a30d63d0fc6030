import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.scene import FINGER_OPEN, Scene
from etude.envs.vector import TabletopVectorEnv

FINGER = FINGER_OPEN + 0.006  # from the tool centre point to the middle of the front finger's pad


def progress_with_the_front_finger_at(*gaps: tuple[float, float, float]) -> NDArray[np.float64]:
    """Of open-drawer, (M,), for gaps in metres from the middle of the handle's bar."""
    env = TabletopVectorEnv("open-drawer", len(gaps), autoreset_mode="Disabled")
    env.reset(seed=0)
    scene: Scene = env.scene
    ids = np.arange(len(gaps))
    points = scene.handle + np.array(gaps) + np.array([0, FINGER, 0])
    scene.pose_arm(ids, points, np.full(len(gaps), FINGER_OPEN), closing=False)
    scene.refresh()
    progress = env.task.progress(scene)  # type: ignore[attr-defined]
    env.close()
    return np.asarray(progress)


def test_pressing_on_the_handle_from_outside_earns_less_than_any_point_of_the_way_over_it() -> None:
    pressing, rising, over, behind, hooked = progress_with_the_front_finger_at(
        (0, 0.012, 0), (0, 0.012, 0.02), (0, 0, 0.03), (0, -0.015, 0.03), (0, -0.015, 0)
    )
    assert pressing < rising < over < behind < hooked
    assert hooked - pressing > 0.1

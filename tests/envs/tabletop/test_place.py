from collections.abc import Callable

import numpy as np
import pytest

from etude.envs.tabletop.composition import STAGE
from etude.envs.vector import TabletopVectorEnv

MakeVector = Callable[..., TabletopVectorEnv]


@pytest.mark.parametrize(("stage", "kept"), [("lift", False), ("carry", False), ("place", True)])
def test_a_cube_that_is_lost_throws_pick_place_back_unless_it_was_to_be_let_go(
    stage: str, kept: bool, make: MakeVector
) -> None:
    env = make("pick-place", 1)
    env.reset(seed=0)
    scene, task = env.scene, env.task
    here = [part.id for part in task.stages].index(stage)  # type: ignore[attr-defined]
    scene.latch[:, STAGE] = here
    task.advance(scene, np.arange(1))
    assert scene.latch[0, STAGE] == (here if kept else 0), "the cube lies on the table, the hand is at home"


def test_only_upwards_is_away_from_a_stacked_cube(make: MakeVector) -> None:
    env = make("stack", 2)
    env.reset(seed=0)
    scene = env.scene
    scene.cube[:] = scene.tcp + [[0, 0, 0.05], [0, 0, -0.05]]
    scene.refresh()
    assert scene.retreat[0] > 0
    assert list(env.task.retreat(scene) > 0) == [False, True]  # type: ignore[attr-defined]

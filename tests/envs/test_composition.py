"""How a composition moves through its stages, and that unlock-drawer is one."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from etude.envs import Task
from etude.envs.tabletop.composition import STAGE, Composition
from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness, staged
from etude.envs.tabletop.scene import BUTTON_PRESSED, DRAWER_OPEN, PRESSED_BUTTON, Scene
from etude.envs.tabletop.starts import arrange
from etude.envs.vector import TabletopVectorEnv
from etude.oracles import get_oracle

MakeVector = Callable[..., TabletopVectorEnv]
Ids = NDArray[np.intp]


class WrittenOut(Task):
    """unlock-drawer in so many words."""

    id = "unlock-drawer"
    horizon = 80

    def reset(self, scene: Scene, ids: Ids, rngs: Sequence[np.random.Generator]) -> None:
        arrange(scene, ids, rngs)
        scene.goal[ids] = scene.button_base[ids] + PRESSED_BUTTON
        scene.drawer_locked[ids] = 1

    def advance(self, scene: Scene, ids: Ids) -> None:
        pressed = ids[(scene.button_depth > BUTTON_PRESSED)[ids]]
        scene.latch[pressed, 0] = 1
        scene.drawer_locked[pressed] = 0
        unlocked = ids[scene.latch[ids, 0] > 0]
        scene.goal[unlocked] = scene.handle[unlocked]

    def reward(self, scene: Scene) -> NDArray[np.float64]:
        finger = scene.tcp - [0, 0.006, 0]
        finger[:, 1] -= scene.fingers[:, 0]
        near_button = closeness(scene.distance(scene.button, scene.tcp), 0.02, 1.0, 0.1)
        over = scene.distance(scene.handle + [0, -0.015, 0.03], finger) + 0.03
        direct = scene.distance(scene.handle + [0, -0.015, 0], finger)
        way = np.where(finger[:, 1] - scene.handle[:, 1] < -0.008, direct, over)
        near_handle = closeness(way, 0.02, 1.0, 0.1)
        press = 0.4 * near_button + (1 - 0.4) * np.clip(scene.button_depth / BUTTON_PRESSED, 0, 1)
        pull = 0.4 * near_handle + (1 - 0.4) * np.clip(scene.drawer_opening / DRAWER_OPEN, 0, 1)
        shaped = staged(scene, scene.latch[:, 0], (lambda _: press, lambda _: pull))
        return np.where(self.success(scene), 1.0, shaped)

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        return scene.drawer_opening > DRAWER_OPEN


@pytest.mark.parametrize("policy", ["random", "oracle", "noisy oracle"])
def test_unlock_drawer_is_bit_for_bit_what_it_says_in_so_many_words(policy: str, make: MakeVector) -> None:
    composed, written = make("unlock-drawer", 32), make("unlock-drawer", 32)
    written.task = WrittenOut()
    oracle, rng = get_oracle("unlock-drawer")(32), np.random.default_rng(0)
    assert np.array_equal(composed.reset(seed=5)[0], written.reset(seed=5)[0])
    oracle.reset(np.arange(32))
    for _ in range(80):
        actions = np.zeros((32, 4)) if policy == "random" else oracle.act(composed.privileged_state()).astype(float)
        actions += {"random": 1.0, "oracle": 0.0, "noisy oracle": 0.3}[policy] * rng.uniform(-1, 1, (32, 4))
        for a, b in zip(composed.step(actions)[:4], written.step(actions)[:4], strict=True):
            assert np.array_equal(a, b)
        assert np.array_equal(composed.task.success(composed.scene), written.task.success(written.scene))
        assert np.array_equal(composed.scene.batch.state, written.scene.batch.state)
    assert policy == "random" or composed.task.success(composed.scene).any()


class Part(Primitive):
    """Solved, ready and this far where the test says so."""

    horizon = 1

    def __init__(self, part_id: str) -> None:
        self.id = part_id  # type: ignore[misc]
        self.solved, self.can, self.far = np.zeros(2, bool), np.ones(2, bool), np.full(2, 0.5)
        self.advanced: list[list[int]] = []

    def reset(self, scene: Scene, ids: Ids, rngs: Sequence[np.random.Generator]) -> None: ...

    def mark(self, scene: Scene, ids: Ids) -> None:
        scene.goal[ids] = float(self.id[-1])

    def advance(self, scene: Scene, ids: Ids) -> None:
        self.advanced.append(ids.tolist())

    def progress(self, scene: Scene) -> NDArray[np.float64]:
        return self.far

    def ready(self, scene: Scene) -> NDArray[np.bool_]:
        return self.can

    def success(self, scene: Scene) -> NDArray[np.bool_]:
        return self.solved


@pytest.fixture
def three() -> tuple[Any, Scene]:
    class Three(Composition):
        id = "three"
        stages = (Part("part-1"), Part("part-2"), Part("part-3"))
        horizon = 1

    task, scene = Three(), Scene(2)
    task.reset(scene, np.arange(2), [np.random.default_rng(i) for i in range(2)])
    return task, scene


def advanced(task: Any, scene: Scene) -> list[int]:
    task.advance(scene, np.arange(2))
    assert np.array_equal(scene.goal[:, 0], scene.latch[:, STAGE] + 1)
    return [int(k) for k in scene.latch[:, STAGE]]


def test_a_compositions_parts_are_its_stages(three: tuple[Any, Scene]) -> None:
    assert three[0].parts == ("part-1", "part-2", "part-3")


def test_a_solved_stage_is_followed_by_the_next_and_the_goal_moves_on(three: tuple[Any, Scene]) -> None:
    task, scene = three
    assert advanced(task, scene) == [0, 0]
    task.stages[0].solved[0] = True
    assert advanced(task, scene) == [1, 0]
    task.stages[0].solved[0] = False
    assert advanced(task, scene) == [1, 0]


def test_a_stage_is_never_skipped_since_its_goal_has_yet_to_be_placed(three: tuple[Any, Scene]) -> None:
    task, scene = three
    task.stages[0].solved[1] = task.stages[1].solved[1] = True
    assert [advanced(task, scene) for _ in range(3)] == [[0, 1], [0, 2], [0, 2]]


def test_a_stage_falls_back_as_far_as_it_must(three: tuple[Any, Scene]) -> None:
    task, scene = three
    for part in task.stages[:2]:
        part.solved[:] = True
    assert [advanced(task, scene) for _ in range(2)] == [[1, 1], [2, 2]]
    for part in task.stages[:2]:
        part.solved[:] = False
    task.stages[2].can[:] = False
    task.stages[1].can[1] = False
    assert advanced(task, scene) == [1, 0]


def test_a_stage_waits_until_the_next_can_begin(three: tuple[Any, Scene]) -> None:
    task, scene = three
    task.stages[0].solved[:] = True
    task.stages[1].can[0] = False
    assert advanced(task, scene) == [0, 1]


def test_a_part_moves_its_own_things_on_in_the_rows_that_have_come_to_it(three: tuple[Any, Scene]) -> None:
    task, scene = three
    task.stages[0].solved[1] = True
    advanced(task, scene)
    assert [part.advanced[-1:] for part in task.stages] == [[[0]], [[1]], []]


def test_only_the_last_stage_solved_and_held_is_success(three: tuple[Any, Scene]) -> None:
    task, scene = three
    task.stages[2].solved[:], task.stages[2].far[:] = True, 1.0
    assert not task.success(scene).any() and np.allclose(task.reward(scene), 0.5 / 3)
    for part in task.stages[:2]:
        part.solved[:] = True
    advanced(task, scene), advanced(task, scene)
    task.stages[2].can[1] = False
    assert task.success(scene).tolist() == [True, False]
    assert task.reward(scene)[0] == 1 and 0.99 < task.reward(scene)[1] < 1

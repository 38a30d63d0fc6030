"""Furniture that a task brings: more of the scene, and all that the scene's own things can."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from etude import compose, make_vector, register_task
from etude.envs import RequestError
from etude.envs.registry import task_class
from etude.envs.single import TabletopEnv
from etude.envs.tabletop.reach import Reach
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.stack import Stack
from etude.envs.tabletop.starts import TABLE_WORDS
from etude.envs.vector import TabletopVectorEnv

MakeVector = Callable[..., TabletopVectorEnv]
Ids = NDArray[np.intp]

BALL = """
<worldbody>
  <body name="ring" mocap="true" pos=".33 -.1 .3" childclass="furniture">
    <geom class="visual" type="sphere" size=".01" material="metal"/>
    <body name="swing"><joint name="swing" axis="1 0 0" damping=".01"/>
      <geom type="sphere" size=".02" pos="0 0 -.1" mass=".1"/><site name="weight" pos="0 0 -.1"/></body>
  </body>
  <body name="ball" pos=".3 -.3 .02"><freejoint name="ball"/><geom class="cube" type="sphere" size=".02 0 0"/></body>
</worldbody>
"""


class Swings(Reach):
    """Reach, beside a pendulum and a ball."""

    id = "swings"
    furniture = BALL

    def furnish(self, scene: Scene, ids: Ids, rngs: Sequence[np.random.Generator]) -> None:
        """Ring within 1 cm."""
        draws = np.array([rng.random(2) for rng in rngs])
        scene.stand("ring")[ids, 0] += 0.01 * draws[:, 0]
        scene.joint("swing")[ids] = draws[:, 1]

    def privileged(self, scene: Scene) -> dict[str, NDArray[Any]]:
        return {"weight": scene.site("weight")}


@pytest.fixture(autouse=True)
def swings() -> None:
    register_task(Swings)


def test_its_words_are_live(make: MakeVector) -> None:
    env = make("swings", 3)
    env.reset(seed=0)
    scene = env.scene
    weight, swing, ball, ring = scene.site("weight"), scene.joint("swing"), scene.joint("ball"), scene.stand("ring")
    assert (weight.shape, swing.shape, ball.shape, ring.shape) == ((3, 3), (3,), (3, 7), (3, 3))
    hangs = ring + 0.1 * np.stack([np.zeros(3), np.sin(swing), -np.cos(swing)], axis=1)
    assert np.allclose(weight, hangs) and len(set(swing)) == 3
    before = swing.copy()
    env.step(np.zeros((3, 4)))
    assert not np.any(swing == before)
    swing[:] = 0
    scene.refresh()
    assert np.allclose(weight, ring - [0, 0, 0.1])
    assert np.array_equal(env.privileged_state()["weight"], weight)


def test_spaces_are_those_of_every_task_and_what_was_there_stands_where_it_did(make: MakeVector) -> None:
    plain, more = make("reach", 2), make("swings", 2)
    assert more.observation_space == plain.observation_space and more.action_space == plain.action_space
    assert np.array_equal(plain.reset(seed=0)[0], more.reset(seed=0)[0])
    assert np.array_equal(plain.privileged_state()["touched"], more.privileged_state()["touched"])


def test_a_new_episode_puts_it_back(make: MakeVector) -> None:
    env = make("swings", 2)
    env.reset(seed=[4, 4])
    first = env.scene.batch.state.copy()
    for _ in range(20):
        env.step(np.ones((2, 4)))
    env.reset(seed=[4, 5])
    assert np.array_equal(env.scene.batch.state[0], first[0])
    assert env.scene.joint("ball")[1, :3].tolist() == [0.3, -0.3, 0.02]
    assert env.scene.joint("swing")[0] != env.scene.joint("swing")[1]


@pytest.mark.parametrize("whole", [False, True], ids=["alone", "as a part"])
def test_its_sites_are_current_where_a_start_is_written(whole: bool, make: MakeVector) -> None:
    class Meets(Swings):
        """Reach the pendulum's weight."""

        id = "meets"

        def mark(self, scene: Scene, ids: Ids) -> None:
            scene.goal[ids] = scene.site("weight")[ids]

    register_task(Meets)
    compose("meets-twice", parts=["meets", "meets"])
    env = make("meets-twice" if whole else "meets", 3)
    for _ in range(2):
        env.reset(seed=0)
        assert np.array_equal(env.scene.goal, env.scene.site("weight"))
        env.step(np.ones((3, 4)))
        env.reset(seed=9, options={"reset_mask": np.array([True, False, True])})


def test_a_snapshot_holds_it(make: MakeVector) -> None:
    one, two = make("swings", 2, autoreset_mode="SameStep"), make("swings", 2, autoreset_mode="SameStep")
    one.reset(seed=0)
    for _ in range(50):
        one.step(np.full((2, 4), 0.3))
    two.restore(one.snapshot())
    assert np.array_equal(one.scene.site("weight"), two.scene.site("weight"))
    for _ in range(20):
        for a, b in zip(one.step(np.full((2, 4), -0.5))[:4], two.step(np.full((2, 4), -0.5))[:4], strict=True):
            assert np.array_equal(a, b)
    assert np.array_equal(one.scene.batch.state, two.scene.batch.state)


def test_one_simulation_is_the_same_bits_as_among_many(make: MakeVector) -> None:
    many, one = make("swings", 5), TabletopEnv("swings")
    many.reset(seed=[7, 8, 9, 10, 11]), one.reset(seed=9)
    for _ in range(30):
        assert np.array_equal(many.step(np.full((5, 4), 0.2))[0][2], one.step(np.full(4, 0.2))[0])
    one.close()


def test_a_composition_has_the_furniture_of_its_parts_once() -> None:
    class Stacks(Stack):
        """Stack, beside the same."""

        id = "stacks"
        furniture = BALL

    register_task(Stacks)
    compose("whole", parts=["swings", "stacks", "swings"])
    task = task_class("whole")
    assert (task.furniture, task.cubes) == (BALL, 2)
    env = make_vector("whole", 2, autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=0)
    scene: Scene = env.unwrapped.scene  # type: ignore[attr-defined]
    assert np.allclose(scene.base[:, 2], 0.02) and scene.joint("ball")[0, 2] == 0.02
    assert env.unwrapped.privileged_state()["weight"].shape == (2, 3)  # type: ignore[attr-defined]
    env.close()


def test_a_composition_places_the_furniture_of_its_parts_once() -> None:
    class Again(Swings):
        """The same furniture, in another task."""

        id = "again"

    register_task(Again)
    spec = compose("whole", parts=["swings", "again", "press-button", "swings"])
    assert spec.starts == f"Ring within 1 cm; {TABLE_WORDS}"
    env, alone = make_vector("whole", 50), make_vector("swings", 50)
    env.reset(seed=3), alone.reset(seed=3)
    rings = env.unwrapped.scene.stand("ring")  # type: ignore[attr-defined]
    assert np.array_equal(rings, alone.unwrapped.scene.stand("ring"))  # type: ignore[attr-defined]
    assert 0.33 <= rings[:, 0].min() < rings[:, 0].max() <= 0.34
    env.close(), alone.close()


def test_what_places_furniture_says_how_a_task_starts_unless_it_says_so_itself() -> None:
    assert Swings.starts == f"Ring within 1 cm; {Reach.starts}"

    class Told(Swings):
        starts = "anyhow"

        def furnish(self, scene: Scene, ids: Ids, rngs: Sequence[np.random.Generator]) -> None: ...

    assert Told.starts == "anyhow"


def test_tasks_without_any_share_a_model_and_those_with_it_another() -> None:
    assert Scene(1).model is Scene(2).model
    assert Scene(1, furniture=BALL).model is Scene(2, furniture=BALL).model is not Scene(1).model


@pytest.mark.parametrize(
    ("furniture", "told"),
    [
        ("<worldbody>", "furniture: mismatched tag"),
        ("a lid", "furniture: 'a lid' stands in no section, must be in asset, default, worldbody"),
        ("<actuator/>", "furniture: section <actuator>, must be one of asset, default, worldbody"),
        ("<worldbody><bodi/></worldbody>", "furniture: .*unrecognized element"),
        ("<worldbody><body name='cube'/></worldbody>", "furniture: .*repeated name 'cube'"),
        ("<worldbody><body><joint/></body></worldbody>", "furniture: .*mass and inertia"),
    ],
)
def test_furniture_that_does_not_fit_is_refused_in_a_line(furniture: str, told: str) -> None:
    register_task(type("Bad", (Reach,), {"id": "bad", "furniture": furniture}))
    with pytest.raises(RequestError, match=f"^task bad: {told}") as caught:
        make_vector("bad", 1)
    assert "\n" not in str(caught.value) and ("mismatched" in told or "line" not in str(caught.value))


def test_the_goals_stand_is_the_goal() -> None:
    scene = Scene(2)
    scene.stand("goal")[1] = [0.4, 0.1, 0.2]
    assert scene.goal[1].tolist() == [0.4, 0.1, 0.2]


def test_what_goes_wrong_inside_a_word_is_told_and_not_that_the_word_is_missing() -> None:
    class Broken(Scene):
        @property
        def middle(self) -> np.ndarray:
            middle: np.ndarray = self.cube.middel  # type: ignore[attr-defined]
            return middle

    with pytest.raises(AttributeError, match="'numpy.ndarray' object has no attribute 'middel'"):
        _ = Broken(1).middle


def test_a_word_that_is_not_there_is_answered_with_the_nearest() -> None:
    scene = Scene(1)
    with pytest.raises(RequestError, match="the scene has no joint 'drawr'; did you mean drawer"):
        scene.joint("drawr")
    with pytest.raises(RequestError, match="the scene has no site 'x'; known: base, button, handle, lever, tcp"):
        scene.site("x")
    with pytest.raises(RequestError, match="the body 'hand' of the scene is no mocap body"):
        scene.stand("hand")


@pytest.mark.slow
def test_pictures_show_it(make: MakeVector) -> None:
    plain, more = make("reach", 1, render_mode="rgb_array"), make("swings", 1, render_mode="rgb_array")
    plain.reset(seed=0), more.reset(seed=0)
    (one,), (two,) = plain.render() or (), more.render() or ()
    assert np.any(one != two)

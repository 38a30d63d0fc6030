from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from etude.envs import RequestError, RunError, register_task
from etude.envs.single import TabletopEnv
from etude.envs.tabletop.reach import Reach
from etude.envs.vector import TabletopVectorEnv
from etude.oracles import compose

MakeVector = Callable[..., TabletopVectorEnv]

pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_simulation_that_diverges_is_named(
    make: MakeVector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    env = make("reach", 4)
    env.reset(seed=[5, 6, 7, 8])
    env.reset(options={"reset_mask": np.array([False, False, True, False])})
    for _ in range(3):
        env.step(np.zeros((4, 4)))
    env.scene.batch.qvel[2, 0] = 1e12
    with pytest.raises(RunError) as caught:
        env.step(np.zeros((4, 4)))
    message = str(caught.value)
    for part in (
        "task reach",
        "environment 2",
        "seed 7",
        "episode 2",
        "step 4",
        "MuJoCo warns of",
        "BADQVEL",
        ", first of joint joint1",
    ):
        assert part in message
    assert "\n" not in message
    assert not list(tmp_path.iterdir()) and capfd.readouterr() == ("", "")


def test_the_joint_that_diverges_is_named(make: MakeVector) -> None:
    env = make("reach", 2)
    env.reset(seed=0)
    for name in ("drawer", "lever"):
        env.scene.batch.qvel[1, env.scene.model.joint(name).dofadr] = 1e12
        env.scene.step()
        told = env.scene.warnings(1)
        assert "BADQVEL" in told and told.endswith(f", first of joint {name}")
        env.scene.home(np.arange(2))


def test_a_single_simulation_that_diverges_is_named() -> None:
    env = TabletopEnv("reach")
    env.reset(seed=5)
    env.reset()
    env.unwrapped._vector.scene.batch.qvel[0, 0] = 1e12
    with pytest.raises(RunError, match=r"environment 0 \(seed 5, episode 2 of that seed\) diverged at step 1"):
        env.step(np.zeros(4))


def test_what_is_not_finite_is_named_even_without_a_warning(make: MakeVector) -> None:
    env = make("reach", 2)
    env.reset(seed=0)
    env.scene.goal[1, 0] = np.nan
    with pytest.raises(RunError, match="environment 1 .* step 1: an observation is not finite"):
        env.step(np.zeros((2, 4)))


def test_a_new_episode_forgets_that_the_last_one_diverged(make: MakeVector) -> None:
    env = make("reach", 2)
    env.reset(seed=0)
    env.scene.batch.qvel[0, 0] = np.nan
    with pytest.raises(RunError):
        env.step(np.zeros((2, 4)))
    env.reset(seed=0)
    env.step(np.zeros((2, 4)))


def bad_task(**methods: Any) -> None:
    register_task(type("Bad", (Reach,), {"id": "bad"} | methods))


def late(value: Any) -> Callable[..., Any]:
    """A reward that is right until the third step."""
    steps = iter(range(99))

    def reward(self: Any, scene: Any) -> Any:
        fine = np.full(scene.size, 0.5)
        if next(steps) < 2:
            return fine
        if isinstance(value, Exception):
            raise value
        if np.ndim(value) == 0:
            fine[1] = value
            return fine
        return value

    return reward


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.nan, r"environment 1 \(seed 6, episode 1 of that seed\) got the reward nan at step 3, must be in 0 to 1"),
        (1.5, r"environment 1 \(seed 6, .*\) got the reward 1.5 at step 3"),
        (-0.1, r"environment 1 \(seed 6, .*\) got the reward -0.1 at step 3"),
        (np.zeros(3), r"reward has shape \(3,\), must be \(2,\) \(seed 5, episode 1 of that seed, step 3"),
        (ValueError("no\nway"), r"reward raised ValueError: no way \(ETUDE_TRACEBACK=1 shows where; seed 5, .* step 3"),
    ],
)
def test_a_wrong_reward_is_told_with_the_task_the_seed_and_the_step(value: Any, told: str, make: MakeVector) -> None:
    bad_task(reward=late(value))
    env = make("bad", 2)
    env.reset(seed=5)
    with pytest.raises((RunError, RequestError), match=f"^task bad: {told}") as caught:
        for _ in range(3):
            env.step(np.zeros((2, 4)))
    assert "\n" not in str(caught.value)


def test_a_success_that_is_not_bools_is_refused(make: MakeVector) -> None:
    bad_task(success=lambda self, scene: np.zeros(scene.size))
    with pytest.raises(RequestError, match=r"^task bad: success is of type float64, must be bool \(seed 5, .* step 0"):
        make("bad", 2).reset(seed=5)


def test_a_start_that_raises_is_told_with_its_seed(make: MakeVector) -> None:
    def reset(self: Any, scene: Any, ids: Any, rngs: Any) -> None:
        raise IndexError("far")

    bad_task(reset=reset)
    with pytest.raises(RunError, match=r"^task bad: reset raised IndexError: far .*; seed 9, .* step 0\)"):
        make("bad", 1).reset(seed=9)


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        ("mark", "reset: mark"),
        ("furnish", "reset: furnish"),
        ("progress", "reward: progress"),
        ("reward", "reward"),
    ],
)
def test_what_raises_within_a_method_is_told_with_its_own_name(hook: str, told: str, make: MakeVector) -> None:
    def raises(self: Any, *_: Any) -> Any:
        raise KeyError("far")

    raises.__code__ = raises.__code__.replace(co_name=hook)
    bad_task(**{hook: raises})
    env = make("bad", 1)
    with pytest.raises(RunError, match=rf"^task bad: {told} raised KeyError: 'far' "):
        env.reset(seed=9)
        env.step(np.zeros((1, 4)))


def test_what_a_part_raises_is_told_with_the_parts_name(make: MakeVector) -> None:
    def mark(self: Any, scene: Any, ids: Any) -> None:
        raise KeyError("far")

    bad_task(mark=mark)
    compose("bad-twice", ["bad", "bad"])
    with pytest.raises(RunError, match="^task bad-twice: reset: mark of bad raised KeyError: 'far' .*seed 9"):
        make("bad-twice", 1).reset(seed=9)


def test_what_a_compositions_prepare_raises_is_told_as_its(make: MakeVector) -> None:
    def put(scene: Any, ids: Any, rngs: Any) -> None:
        scene.joint("knbo")

    compose("put-reach", ["reach"], prepare=put)
    with pytest.raises(RequestError, match="^task put-reach: reset: prepare: the scene has no joint 'knbo'.*seed 9"):
        make("put-reach", 1).reset(seed=9)


def blurred(*blurs: bool) -> Callable[..., Any]:
    """Starts; in those that are to be blurred the last simulation's goal is no number."""
    following = iter(blurs)

    def reset(self: Any, scene: Any, ids: Any, rngs: Any) -> None:
        Reach.reset(self, scene, ids, rngs)
        if next(following):
            scene.goal[ids[-1], 1] = np.nan

    return reset


def test_a_start_whose_observation_is_not_finite_is_told(make: MakeVector) -> None:
    bad_task(reset=blurred(True, False, True))
    told = "^task bad: environment 1 starts with an observation .* not finite in goal, .*seed 6, episode 1 .* step 0"
    env = make("bad", 2)
    with pytest.raises(RunError, match=told):
        env.reset(seed=5)
    env.reset(seed=5)
    with pytest.raises(RunError, match=told.replace("episode 1", "episode 2")):
        env.reset(options={"reset_mask": np.array([False, True])})


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_a_later_start_whose_observation_is_not_finite_is_told(mode: str, make: MakeVector) -> None:
    bad_task(reset=blurred(False, True), horizon=1)
    env = make("bad", 2, autoreset_mode=mode)
    env.reset(seed=5)
    with pytest.raises(RunError, match="^task bad: environment 1 .*seed 6, episode 2 of that seed") as caught:
        for _ in range(2):
            env.step(np.zeros((2, 4)))
    assert "not finite" in str(caught.value) and "step 0" in str(caught.value)


def test_one_that_asks_to_exit_is_told_as_one_that_raises(make: MakeVector) -> None:
    def advance(self: Any, scene: Any, ids: Any) -> None:
        raise SystemExit(3)

    bad_task(advance=advance)
    env = make("bad", 1)
    env.reset(seed=9)
    with pytest.raises(RunError, match=r"^task bad: advance raised SystemExit: 3 .*; seed 9, .* step 1\)"):
        env.step(np.zeros((1, 4)))


def test_an_interrupt_goes_through(make: MakeVector) -> None:
    def advance(self: Any, scene: Any, ids: Any) -> None:
        raise KeyboardInterrupt

    bad_task(advance=advance)
    env = make("bad", 1)
    env.reset(seed=9)
    with pytest.raises(KeyboardInterrupt):
        env.step(np.zeros((1, 4)))


def test_a_word_that_the_scene_lacks_is_told_with_the_task_and_its_seed(make: MakeVector) -> None:
    bad_task(advance=lambda self, scene, ids: scene.joint("knbo"))
    env = make("bad", 1)
    env.reset(seed=9)
    with pytest.raises(RequestError, match=r"^task bad: advance: the scene has no joint 'knbo'; .*seed 9, .* step 1\)"):
        env.step(np.zeros((1, 4)))


def test_what_it_tells_its_oracle_is_told_too_where_it_raises(make: MakeVector) -> None:
    bad_task(privileged=lambda self, scene: {"knob": scene.knob})
    env = make("bad", 1)
    env.reset(seed=9)
    with pytest.raises(RunError, match=r"^task bad: privileged raised AttributeError: .*'knob'.*; seed 9, .* step 0\)"):
        env.privileged_state()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, "privileged gives None, must be a dict of arrays by word"),
        (
            {"knob": np.zeros((1, 3)), "tcp": np.zeros((1, 3))},
            "privileged gives tcp, of which oracles read the scene's",
        ),
        ({"elapsed": np.zeros(1)}, "privileged gives elapsed, of which oracles read"),
    ],
)
def test_what_a_task_may_not_tell_its_oracle_is_refused(given: Any, told: str, make: MakeVector) -> None:
    bad_task(privileged=lambda self, scene: given)
    env = make("bad", 1)
    env.reset(seed=9)
    with pytest.raises(RequestError, match=rf"^task bad: {told}.* \(seed 9, .* step 0\)$"):
        env.privileged_state()


@pytest.mark.parametrize("bad", [np.zeros((2, 3)), np.zeros(4), np.zeros((3, 4)), 0.0])
def test_actions_of_the_wrong_shape_are_refused(bad: object, make: MakeVector) -> None:
    env = make("reach", 2)
    env.reset(seed=0)
    with pytest.raises(RequestError, match=r"task reach: actions of shape .* must be \(2, 4\)"):
        env.step(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_actions_that_are_not_finite_are_refused(value: float) -> None:
    env = TabletopEnv("reach")
    env.reset(seed=0)
    with pytest.raises(RequestError, match="task reach: action .* of environment 0 is not finite"):
        env.step(np.array([0, value, 0, 0]))


def test_actions_beyond_the_space_act_as_its_edge(make: MakeVector) -> None:
    one, two = make("reach", 1), make("reach", 1)
    one.reset(seed=0), two.reset(seed=0)
    assert np.array_equal(one.step(np.array([[5, -7, 0, 2]]))[0], two.step(np.array([[1, -1, 0, 1]]))[0])


def test_a_snapshot_of_another_size_is_refused(make: MakeVector) -> None:
    with pytest.raises(RequestError, match="snapshot of shape"):
        make("reach", 2).restore(make("reach", 3).snapshot())


@pytest.mark.parametrize("given", ["high", [[1], [2, 3]], ["high", "low"]])
def test_a_reward_that_is_no_array_is_refused(given: Any, make: MakeVector) -> None:
    bad_task(reward=lambda self, scene: given)
    env = make("bad", 2)
    env.reset(seed=5)
    with pytest.raises(RequestError, match=r"^task bad: reward gives .*, must be .* shape \(2,\) \(seed 5, .* step 1"):
        env.step(np.zeros((2, 4)))


def test_a_success_that_is_no_array_is_refused(make: MakeVector) -> None:
    bad_task(success=lambda self, scene: [[True], [True, False]])
    with pytest.raises(RequestError, match=r"^task bad: success gives \[\[True\], .*, must be .* shape \(2,\)"):
        make("bad", 2).reset(seed=5)


def test_a_word_that_the_scene_lacks_is_told_with_the_nearest(make: MakeVector) -> None:
    bad_task(success=lambda self, scene: scene.cubee)
    with pytest.raises(
        RunError, match="^task bad: success raised .*: the scene has no word 'cubee'; did you mean cube"
    ):
        make("bad", 2).reset(seed=5)

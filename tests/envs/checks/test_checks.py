"""Each check fails a task that is broken in its way alone."""

import random
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.mujoco.inverted_pendulum_v5 import InvertedPendulumEnv
from gymnasium.spaces import Box
from gymnasium.vector import VectorWrapper
from gymnasium.vector.utils import batch_space

from etude import register_environment, register_task
from etude.envs.checks import CHECKS, Check, Subject
from etude.envs.tabletop.reach import Reach
from etude.envs.tabletop.scene import WORKSPACE
from etude.envs.tabletop.starts import arrange

HORIZON = 12
OWN = '<worldbody><site name="own"/></worldbody>'  # gives the task a model of its own

Break = Callable[[], str]


def found(name: str) -> Check:
    (one,) = [one for one in CHECKS if one.name == name]
    return one


def task(**methods: Any) -> Break:
    """Registers a short reach, with other methods or attributes."""

    def register() -> str:
        attributes = {"id": "mine", "__doc__": "Mine.", "horizon": HORIZON} | methods
        return register_task(type("Mine", (Reach,), attributes)).id

    return register


def wrapped(change: type[VectorWrapper[Any, Any, Any, Any, Any]], **fields: Any) -> Break:
    """Registers a short reach whose vector environment is wrapped, or whose spec says something else."""

    def register() -> str:
        spec = register_task(type("Inner", (Reach,), {"id": "inner", "__doc__": "Inner.", "horizon": HORIZON}))

        def make(number: int, **options: Any) -> Any:
            made = change(spec.make_vector(number, **options))
            made.threads = options.get("threads", 1)  # type: ignore[attr-defined]
            return made

        return register_task(replace(spec, id="mine", gymnasium_id="", make_vector=make, **fields)).id

    return register


class Plain(VectorWrapper[Any, Any, Any, Any, Any]):
    """Changes nothing."""

    def step(self, actions: Any) -> Any:
        return self.change(*self.env.step(actions))

    def change(self, *step: Any) -> Any:
        return step


class Larger(Plain):
    """Has another space of observations."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.single_observation_space = Box(-9, 9, env.single_observation_space.shape, np.float32)


class LargerAll(Larger):
    """Has another space of observations, of one and of many."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)


class ByThreads(Plain):
    """Is other at two threads."""

    def change(self, observations: Any, rewards: Any, *rest: Any) -> Any:
        return observations, rewards + 1e-9 * (self.threads > 1), *rest  # type: ignore[attr-defined]


class Terminating(Plain):
    """Ends where it must not."""

    def change(self, observations: Any, rewards: Any, terminated: Any, *rest: Any) -> Any:
        return observations, rewards, terminated | (rewards > 0), *rest


class Outside(Plain):
    """Observes what is not in the space."""

    def change(self, observations: Any, *rest: Any) -> Any:
        return observations + 9, *rest


class Leaking(Plain):
    """Tells agents what hour it is, by a slot of the observation."""

    def change(self, observations: Any, *rest: Any) -> Any:
        observations[:, -1] = self.env.unwrapped._elapsed / 100  # type: ignore[attr-defined]
        return observations, *rest


class Telling(Plain):
    """Tells agents where the goal is, in info."""

    def change(self, *step: Any) -> Any:
        step[-1]["goal"] = np.zeros(self.num_envs)
        return step


class Silent(Plain):
    """Never says whether it is solved."""

    def change(self, *step: Any) -> Any:
        step[-1].pop("success")
        return step


class Numbers(Plain):
    """Says it in numbers."""

    def change(self, *step: Any) -> Any:
        step[-1]["success"] = step[-1]["success"].astype(float)
        return step


class Generous(Plain):
    """Pays more than 1."""

    def change(self, observations: Any, rewards: Any, *rest: Any) -> Any:
        return observations, rewards + 1, *rest


class Vague(Plain):
    """Pays what is no number, once."""

    paid = 0

    def change(self, observations: Any, rewards: Any, *rest: Any) -> Any:
        self.paid += 1
        return observations, np.where(self.paid == 3, np.nan, rewards), *rest


class Stray(gymnasium.Env[Any, Any]):
    """An environment that draws from a generator of its own, or hands out one array again and again."""

    observation_space, action_space = Box(-1, 1, (1,), np.float32), Box(-1, 1, (1,), np.float32)

    def __init__(self, wrong: str, render_mode: str | None = None) -> None:
        self.wrong, self.seen, self.render_mode = wrong, np.zeros(1, np.float32), render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=None if self.wrong == "seed" else seed)
        return self._look(), {}

    def step(self, action: Any) -> Any:
        reward = {"unbounded": -7.0, "infinite": np.inf}.get(self.wrong, 0.0)
        return self._look(), reward, False, self.wrong == "ends", {"success": False}

    def _look(self) -> Any:
        self.seen[:] = self.np_random.uniform(-1, 1)
        return self.seen if self.wrong == "reused" else self.seen.copy()


class Flung(InvertedPendulumEnv):
    """A pendulum that is flung out of the world."""

    def step(self, action: Any) -> Any:
        self.data.qvel[0] = 1e12
        return super().step(action)


def flung() -> str:
    gymnasium.register("tests/Flung-v0", entry_point=Flung)
    return register_environment("tests/Flung-v0", id="mine", privileged=lambda env: {}, success=bool, horizon=3).id


def stray(wrong: str = "") -> Break:
    def register() -> str:
        gymnasium.register("tests/Stray-v0", entry_point=Stray)
        return register_environment(
            "tests/Stray-v0", id="mine", privileged=lambda env: {}, horizon=HORIZON, options={"wrong": wrong}
        ).id

    return register


class Loose(Stray):
    """An environment whose observations have no bounds, of which Gymnasium warns."""

    observation_space = Box(-np.inf, np.inf, (1,), np.float32)


def loose() -> str:
    """A tabletop task whose single environment is another."""
    gymnasium.register("tests/Loose-v0", entry_point=Loose, kwargs={"wrong": ""})
    spec = register_task(type("Inner", (Reach,), {"id": "inner", "__doc__": "Inner.", "horizon": HORIZON}))
    return register_task(replace(spec, id="mine", gymnasium_id="tests/Loose-v0")).id


def starting(change: Callable[[Any, Any, Any, Any], None]) -> Callable[..., None]:
    """The common starts, with a change."""

    def reset(self: Any, scene: Any, ids: Any, rngs: Any) -> None:
        arrange(scene, ids, rngs)
        change(self, scene, ids, rngs)

    return reset


def fresh_draw(self: Any, scene: Any, ids: Any, rngs: Any) -> None:
    scene.goal[ids, 0] += 0.01 * np.random.default_rng().random()


def count(self: Any, scene: Any, ids: Any, rngs: Any) -> None:
    self.starts_seen = getattr(self, "starts_seen", 0) + len(ids)
    scene.goal[ids, 0] += 1e-6 * self.starts_seen


def drawing(draw: Callable[[], Any]) -> Callable[..., None]:
    return starting(lambda self, scene, ids, rngs: draw() and None)


def torch_draw() -> Any:
    import torch

    return torch.rand(1)


def torch_seed() -> Any:
    import torch

    return torch.manual_seed(0)


def same_again(self: Any, scene: Any, ids: Any, rngs: Any) -> None:
    for i, rng in zip(ids, rngs, strict=True):
        scene.goal[i, :] = [0.5, 0, 0.2 + 0.1 * np.random.default_rng(rng.bit_generator.seed_seq).random()]
    scene.cube[ids, :2], scene.cube_quaternion[ids] = [0.5, 0], [1, 0, 0, 0]
    scene.cabinet[ids, :2], scene.button_base[ids, :2] = [0.5, 0.3], [0.4, -0.2]
    scene.lever_base[ids, :2] = [0.6, -0.2]


def remembers(self: Any, scene: Any, ids: Any) -> None:
    self.steps_seen = getattr(self, "steps_seen", 0) + 1
    scene.goal[ids, 0] = 0.4 + 1e-6 * self.steps_seen


def late(value: Any) -> Callable[[Any, Any], Any]:
    def reward(self: Any, scene: Any) -> Any:
        self.calls = getattr(self, "calls", 0) + 1
        if self.calls < 4:
            return np.full(scene.size, 0.5)
        if isinstance(value, Exception):
            raise value
        return np.full(scene.size, value)

    return reward


def flings(self: Any, scene: Any, ids: Any) -> None:
    scene.batch.qvel[ids[:1], 0] = 1e12


def blurs(self: Any, scene: Any, ids: Any) -> None:
    scene.goal[ids, 0] = np.nan


def blurs_at_the_edge(self: Any, scene: Any, ids: Any) -> None:
    scene.goal[ids[(scene.setpoint[ids] < WORKSPACE[0] + 0.01).any(axis=1)], 0] = np.nan


def polishes(self: Any, scene: Any, ids: Any) -> None:
    scene.model.geom_friction[:] *= 1.0001


def already(self: Any, scene: Any) -> Any:
    return scene.goal[:, 0] > 0.4


def dawdles(self: Any, scene: Any, ids: Any) -> None:
    end = time.process_time() + 0.4
    while time.process_time() < end:
        ...


BROKEN = [
    (
        "can be played",
        task(reward=late(KeyError("far"))),
        "task mine: reward raised KeyError: 'far' .*seed 0, .* step 4",
    ),
    ("can be played", task(reward=late(np.nan)), r"task mine: environment 0 \(seed 0, .*got the reward nan at step 4"),
    (
        "can be played",
        task(reward=lambda self, scene: np.zeros(3)),
        r"shape \(3,\), must be \(1,\) \(seed 0, .* step 1",
    ),
    ("can be played", task(furniture="<worldbody/>" * 2 + "<actuator/>"), "task mine: furniture: section <actuator>"),
    ("can be played", task(advance=blurs_at_the_edge), "task mine: environment 3[2-9] .* an observation is not finite"),
    ("Gymnasium's own checker", stray("seed"), "AssertionError: .*reset"),
    ("Gymnasium's own checker", stray("reused"), "AssertionError: .*non-deterministic"),
    ("spaces", wrapped(Larger), "the observation space of two is"),
    ("spaces", wrapped(LargerAll), r"its observations are Box\(-9.0, 9.0, .*, those of the tabletop Box"),
    ("spec to JSON and back", stray(), "ValueError: Callable found in tests/Stray-v0"),
    ("spec to JSON and back", task(reset=starting(fresh_draw)), "what comes back starts otherwise from the same seed"),
    ("Gymnasium's own checker", loose, "it warns: A Box observation space m"),
    (
        "same seed, same steps",
        task(reset=starting(fresh_draw)),
        "played twice, the observation differs at step 0 of row 0",
    ),
    (
        "reset forgets",
        task(reset=starting(count)),
        "after 50 steps of other episodes, the observation differs at step 0",
    ),
    ("global generators untouched", task(reset=drawing(random.random)), "it draws from or seeds that of python;"),
    ("global generators untouched", task(reset=drawing(np.random.random)), "it draws from or seeds that of numpy;"),
    ("global generators untouched", task(reset=drawing(torch_draw)), "it draws from or seeds that of torch;"),
    ("global generators untouched", task(reset=drawing(lambda: random.seed(0))), "or seeds that of python;"),
    ("global generators untouched", task(reset=drawing(lambda: np.random.seed(0))), "or seeds that of numpy;"),
    ("global generators untouched", task(reset=drawing(torch_seed)), "or seeds that of torch;"),
    (
        "many the same as one",
        task(reward=lambda self, scene: np.full(scene.size, np.clip(scene.tcp[:, 0].mean(), 0, 1))),
        "row 0 of 5 at 1 thread: the reward differs at step 1",
    ),
    ("many the same as one", wrapped(ByThreads), "row 0 of 5 at 2 threads: the reward differs at step 1"),
    ("snapshot and restore", task(advance=remembers), "gone on from step 10, the observation differs at step 0"),
    ("starts differ", task(reset=lambda self, scene, ids, rngs: None), "63 of 64 seeds start as another does"),
    ("starts differ", task(reset=starting(same_again)), "the next episode starts as the one before"),
    ("ends at its horizon", wrapped(Plain, horizon=HORIZON + 1), f"truncated at step {HORIZON} of {HORIZON + 1}"),
    ("ends at its horizon", wrapped(Plain, horizon=HORIZON - 1), f"64 of 64 rows go on after step {HORIZON - 1}"),
    ("ends at its horizon", wrapped(Terminating), "row 0 is terminated at step 1"),
    ("observations sound", task(advance=blurs), "task mine: environment 0 .* an observation is not finite"),
    ("observations sound", wrapped(Outside), "one is not, at step 1"),
    ("nothing privileged told", wrapped(Telling), "info holds goal"),
    ("nothing privileged told", wrapped(Leaking), "an observation is not what the scene's slots read, at step 1"),
    (
        "nothing privileged told",
        task(privileged=lambda self, scene: {"way": scene.goal[0]}),
        r"the privileged 'way' of 1 is of shape \(3,\), not \(1, ...\)",
    ),
    ("success told", task(success=already), "a start is solved, at step 0"),
    ("success told", wrapped(Silent), "info has no success, at step 1"),
    ("success told", wrapped(Numbers), r"info\['success'\] is float64, not a bool for each row, at step 1"),
    ("rewards in 0 to 1", wrapped(Generous), "they are from 1.0.* to "),
    ("rewards in 0 to 1", wrapped(Vague), "they are from nan to nan"),
    ("rewards in 0 to 1", task(reward=lambda self, scene: np.full(scene.size, 1.1)), "got the reward 1.1 at step 1"),
    ("rewards in 0 to 1", stray("infinite"), "task mine: its reward is inf, must be a finite number"),
    ("simulator quiet", task(advance=flings), "MuJoCo warns of .*BADQVEL"),
    ("simulator quiet", flung, "MuJoCo warns of .*BADQVEL"),
    ("model unchanged", task(advance=polishes, furniture=OWN), "its bytes are others"),
    ("fast enough to train on", task(advance=dawdles), "200 are the least"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "broken", "told"), BROKEN, ids=[f"{name} {i}" for i, (name, *_) in enumerate(BROKEN)])
def test_a_task_that_is_broken_in_a_way_fails_its_check(name: str, broken: Break, told: str) -> None:
    finding = found(name)(Subject(broken()))
    assert finding.outcome == "failed"
    assert re.search(told, finding.reason) and "\n" not in finding.reason, finding.reason


def test_every_check_has_a_task_that_is_broken_in_its_way() -> None:
    elsewhere = {"same in a fresh process"}  # below, from a file
    assert {name for name, *_ in BROKEN} | elsewhere == {one.name for one in CHECKS}
    assert len({one.name for one in CHECKS}) == len(CHECKS)


def test_a_task_that_waits_for_other_work_is_fast_enough() -> None:
    name = task(advance=lambda self, scene, ids: time.sleep(0.4))()
    assert found("fast enough to train on")(Subject(name)).outcome == "passed"

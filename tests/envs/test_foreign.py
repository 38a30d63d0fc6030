"""Gymnasium environments as tasks: how they are played, and what is said of those that misbehave."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from etude import get_task, make_vector, register_environment
from etude.envs import RequestError, RunError
from etude.oracles import Oracle, fingerprint, measure_references, register_floor, register_oracle


class Walk(gymnasium.Env[Any, Any]):
    """A walk of as many steps as its start says, along a line; the step's action is its reward."""

    observation_space = Box(-50, 50, (2,), np.float32)
    action_space = Box(-1, 1, (1,), np.float32)

    def __init__(self, wrong: str = "", render_mode: str | None = None) -> None:
        self.wrong, self.render_mode = wrong, render_mode
        if wrong == "making":
            raise OSError("no such\nfile")

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if self.wrong == "reset":
            raise KeyError("start")
        self.left = int(self.np_random.integers(2, 9))
        self.first = self.left
        return self._seen(), {"first": self.first}

    def step(self, action: Any) -> Any:
        self.left -= 1
        late = self.first - self.left >= 2
        if late and self.wrong == "raises":
            raise RuntimeError("fell\nover")
        reward: Any = float(action[0])
        reward = (
            {"nan": np.nan, "vector": np.ones(2), "text": "lots", "none": None}.get(self.wrong, reward)
            if late
            else reward
        )
        info: dict[str, Any] = {} if self.wrong == "info" else {"there": self.left == 0 and action[0] > 0}
        if late and self.wrong == "both":
            info["there"] = np.zeros(2, np.bool_)
        if late and self.wrong == "share":
            info["there"] = 0.7
        return self._seen(late), reward, self.left == 0, False, info

    def _seen(self, late: bool = False) -> Any:
        seen = np.array([self.left, self.first], np.float64)
        if late and self.wrong == "bounds":
            seen[1] = 51
        if late and self.wrong == "ragged":
            return [1.0, [2.0]]
        if late and self.wrong == "unfinite":
            seen[0] = np.inf
        return seen[:1] if late and self.wrong == "shape" else seen


def left(env: Walk) -> dict[str, int]:
    return {"left": env.left}


class On(Oracle):
    """On and on."""

    task = "walk"

    def act(self, privileged: dict[str, Any]) -> Any:
        return np.ones((self.size, 1), np.float32)


class Half(On):
    """Half as fast."""

    def act(self, privileged: dict[str, Any]) -> Any:
        return np.full((self.size, 1), 0.5, np.float32)


@pytest.fixture(autouse=True)
def walks() -> None:
    gymnasium.register("tests/Walk-v0", entry_point=Walk)


def register(**changes: Any) -> None:
    options = {"id": "walk", "privileged": left, "success": "there", "horizon": 20}
    register_environment("tests/Walk-v0", **(options | changes))
    register_oracle(On)


def test_it_is_played_in_gymnasiums_own_vector_environment() -> None:
    register(horizon=5)
    env = make_vector("walk", 3)
    assert isinstance(env.unwrapped, SyncVectorEnv) and env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    env.reset(seed=[3, 4, 5])
    privileged = env.unwrapped.privileged_state()  # type: ignore[attr-defined]
    assert {word: array.shape for word, array in privileged.items()} == {"left": (3,), "elapsed": (3,)}
    for _ in range(5):
        *_, terminated, truncated, info = env.step(np.ones((3, 1), np.float32))
        for i in np.flatnonzero(terminated | truncated):
            assert info["final_info"]["success"][i] == terminated[i]
    env.close()
    spec = get_task("walk")
    assert (spec.gymnasium_id, spec.horizon) == ("tests/Walk-v0", 5)


def test_the_first_episode_of_each_row_counts_however_early_it_ends() -> None:
    register()
    measured = measure_references("walk", 30)
    assert set(measured["oracle"]["lengths"]) == set(range(2, 9))
    assert measured["oracle"]["returns"] == measured["oracle"]["lengths"]
    assert all(measured["oracle"]["successes"]) and not any(measured["zero"]["successes"])
    assert list(measured) == ["fingerprint", "oracle", "random", "zero"]


def test_success_may_be_a_function_of_the_environment() -> None:
    register(success=lambda env: env.left == 0)
    assert all(measure_references("walk", 4)["zero"]["successes"])


def test_a_floor_of_its_own_is_measured_and_part_of_the_fingerprint() -> None:
    register()
    before = fingerprint("walk", 2)
    register_floor(Half)
    measured = measure_references("walk", 6)
    assert measured["floor"]["returns"] == [length / 2 for length in measured["floor"]["lengths"]]
    assert set(measured["floor"]) == set(measured["oracle"]) and before == fingerprint("walk", 2)
    with pytest.raises(RequestError, match="task 'walk': has a floor already, Half"):
        register_floor(Half)


def test_it_depends_on_the_files_of_environment_and_functions() -> None:
    register()
    assert {path.name for path in get_task("walk").sources} == {"test_foreign.py", "foreign.py"}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("raises", r"step raised RuntimeError: fell over \(ETUDE_TRACEBACK=1 shows where\)"),
        ("reset", "reset raised KeyError: 'start'"),
        ("nan", "its reward is nan, must be a finite number"),
        ("vector", r"its reward is array\(\[1., 1.\]\), must be a finite number"),
        ("text", "its reward is 'lots', must be a finite number"),
        ("none", "its reward is None, must be a finite number"),
        ("both", r"its info has at 'there' array\(\[False, False\]\), must be True or False"),
        ("share", r"its info has at 'there' 0.7, must be True or False, whether it is solved"),
        ("ragged", r"its observation \[1.0, \[2.0\]\] is no array of float32"),
        ("bounds", r"its observation is 51.0 at \[1\], must be finite and within -50.0 to 50.0"),
        ("unfinite", r"its observation is inf at \[0\], must be finite"),
        ("shape", r"its observation has shape \(1,\), must be \(2,\)"),
        ("info", r"its info has no 'there' to say whether it was solved; it has \[\]"),
    ],
)
def test_what_it_does_wrong_is_told_with_its_name_the_seed_and_the_step(wrong: str, told: str) -> None:
    register(options={"wrong": wrong})
    step = {"reset": "0", "info": "."}.get(wrong, "2")
    with pytest.raises(RunError, match=rf"^task walk: {told}.* \(seed \d+, episode 1 of that seed, step {step}\)$"):
        measure_references("walk", 1)


def test_what_its_functions_do_wrong_is_told_too() -> None:
    register(privileged=lambda env: {"left": env.lefft}, success=lambda env: 1 / 0)
    with pytest.raises(RunError, match="^task walk: privileged raised AttributeError: .*lefft.* step 0"):
        measure_references("walk", 1)
    env = make_vector("walk", 1)
    env.reset(seed=7)
    with pytest.raises(RunError, match="^task walk: success raised ZeroDivisionError.* .seed 7, .* step 1"):
        env.step(np.ones((1, 1), np.float32))


def test_success_may_be_told_in_ones_and_zeros_and_in_nothing_between() -> None:
    register(success=lambda env: np.float32(env.left == 0))
    assert all(measure_references("walk", 4)["zero"]["successes"])
    env = make_vector("walk", 1)
    env.unwrapped.envs[0]._success = lambda env: 0.5  # type: ignore[attr-defined]
    env.reset(seed=7)
    with pytest.raises(RunError, match="^task walk: its success gives 0.5, must be True or False.* .seed 7, .* step 1"):
        env.step(np.ones((1, 1), np.float32))


def test_privileged_must_give_a_dict() -> None:
    register(privileged=lambda env: [env.left])
    with pytest.raises(RunError, match=r"^task walk: privileged gives \[\d\], must be a dict of arrays .* step 0"):
        measure_references("walk", 1)


def test_what_its_oracle_reads_has_the_same_shapes_in_every_row() -> None:
    register(privileged=lambda env: {"left": np.zeros(env.first % 2)})
    env = make_vector("walk", 8)
    env.reset(seed=0)
    told = r"^task walk: privileged gives arrays of shapes .*, and of the first environment .* \(seed \d, .* step 0\)$"
    with pytest.raises(RunError, match=told):
        env.unwrapped.privileged_state()  # type: ignore[attr-defined]


def test_a_function_that_asks_to_exit_is_told_too() -> None:
    def leaves(env: Any) -> Any:
        raise SystemExit(3)

    register(privileged=leaves)
    with pytest.raises(RunError, match="^task walk: privileged raised SystemExit: 3 .* step 0"):
        measure_references("walk", 1)


def test_one_that_cannot_be_made_is_a_line() -> None:
    register(options={"wrong": "making"})
    with pytest.raises(RequestError, match="^task walk: tests/Walk-v0 cannot be made: OSError: no such file$"):
        make_vector("walk", 2)


@pytest.mark.parametrize(
    ("gymnasium_id", "changes", "told"),
    [
        ("tests/Wlak-v0", {}, "task 'walk': Environment `Wlak`"),
        ("no_such_module:Walk-v0", {}, "task 'walk': .*no_such_module"),
        ("tests/Walk-v0", {"horizon": None}, "task 'walk': tests/Walk-v0 has no limit of steps of its own; give a hor"),
        ("tests/Walk-v0", {"horizon": 0}, "task 'walk': horizon 0, must be a number of steps above 0"),
        ("tests/Walk-v0", {"id": "reach"}, "task id 'reach': already registered"),
        ("tests/Walk-v0", {"parts": ["unlock-drawer"]}, "task 'walk': its part 'unlock-drawer' is a composition"),
    ],
)
def test_what_cannot_be_a_task_is_refused(gymnasium_id: str, changes: dict[str, Any], told: str) -> None:
    options = {"id": "walk", "privileged": left, "horizon": 9} | changes
    with pytest.raises(RequestError, match=told) as caught:
        register_environment(gymnasium_id, **options)
    assert "\n" not in str(caught.value)

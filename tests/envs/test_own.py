"""Batched environments of one's own, registered as specs: what they do wrong is told as that of any other task."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from etude import Oracle, TaskSpec, make_vector, register_oracle, register_task
from etude.envs import RequestError, RunError
from etude.envs.checks import CHECKS, Subject, run_checks
from etude.oracles import measure_references

HORIZON, BAD = 5, 3  # the step at which it goes wrong


class Slide(VectorEnv[Any, Any, Any]):
    """A point to be brought to 0, which goes wrong in row 1 where there is one, in its second episode if told so."""

    def __init__(self, number: int, wrong: str, mode: AutoresetMode) -> None:
        self.num_envs, self.wrong, self.mode = number, wrong, mode
        self.metadata = {"autoreset_mode": mode}
        self.single_observation_space = Box(-1, 1, (2,), np.float32)
        self.single_action_space = Box(-1, 1, (1,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, number)
        self.action_space = batch_space(self.single_action_space, number)
        self.place, self.elapsed, self.steps = np.zeros(number), 0, 0

    def privileged_state(self) -> Any:
        return {"place": {}["gone"] if self.wrong == "privileged" else self.place.copy()}

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        if self.wrong == "reset":
            raise KeyError("start")
        if seed is not None:
            seeds = seed if isinstance(seed, list) else range(seed, seed + self.num_envs)
            self._rngs = [np.random.default_rng(one) for one in seeds]
            self.steps = 0
        self._start()
        return self._look(), {"success": np.zeros(self.num_envs, np.bool_)}

    def step(self, actions: Any) -> Any:
        if self.mode == AutoresetMode.NEXT_STEP and self.elapsed == HORIZON:
            self._start()
            actions = np.zeros_like(actions)
        else:
            self.elapsed += 1
        self.steps += 1
        if self._is("raises"):
            raise ValueError("fell\nover")
        self.place = np.clip(self.place + 0.3 * actions[:, 0], -1, 1)
        rewards, over = 1 - abs(self.place), np.full(self.num_envs, self.elapsed == HORIZON)
        if self._is("nan"):
            rewards[-1] = np.nan
        if self._is("rewards"):
            rewards = np.ones(self.num_envs + 1)
        success, observations = abs(self.place) < 0.05, self._look()
        info: dict[str, Any] = {"success": success}
        if self.mode == AutoresetMode.SAME_STEP and over[0]:
            final = np.empty(self.num_envs, object)
            final[:] = list(observations)
            info = {"final_obs": final, "_final_obs": over, "_final_info": over}
            info["final_info"] = {"success": success, "_success": over}
            self._start()
            observations, info["success"] = self._look(), np.zeros(self.num_envs, np.bool_)
        return observations, rewards, np.zeros(self.num_envs, np.bool_), over, info

    def _is(self, wrong: str) -> bool:
        when = HORIZON + (self.mode == AutoresetMode.NEXT_STEP) + BAD if self.wrong.startswith("late ") else BAD
        return self.wrong.removeprefix("late ") == wrong and self.steps == when

    def _start(self) -> None:
        self.place, self.elapsed = np.array([rng.uniform(-0.9, -0.5) for rng in self._rngs]), 0

    def _look(self) -> Any:
        seen = np.stack([self.place, np.full(self.num_envs, self.elapsed / HORIZON)], axis=1).astype(np.float32)
        if self._is("bounds") or self._is("unfinite"):
            seen[-1, 0] = 7 if self.wrong.endswith("bounds") else np.inf
        return seen[:, :1] if self._is("shape") else seen


class SlideOracle(Oracle):
    """Straight to 0."""

    task = "slide"

    def act(self, privileged: Any) -> Any:
        return np.clip(-privileged["place"][:, None] / 0.3, -1, 1).astype(np.float32)


def register(wrong: str = "") -> None:
    """As the documentation has it: `make_vector` has no defaults, and is called with all of its keywords."""

    def make(num_envs: int, *, autoreset_mode: AutoresetMode, threads: int, render_mode: str | None) -> Slide:
        if wrong == "making":
            raise OSError("no such file")
        return Slide(num_envs, wrong, autoreset_mode)

    register_task(TaskSpec(id="slide", horizon=HORIZON, make_vector=make))
    register_oracle(SlideOracle)


def test_one_that_is_right_is_measured_and_passes_its_checks() -> None:
    register()
    measured = measure_references("slide", 6)
    assert all(measured["oracle"]["successes"]) and set(measured["oracle"]["lengths"]) == {HORIZON}
    quick: list[Callable[..., Any]] = [one for one in CHECKS if "process" not in one.name]
    for finding in run_checks(Subject("slide"), quick):  # type: ignore[arg-type]
        assert finding.outcome != "failed", finding


WRONG = {
    "raises": r"step raised ValueError: fell over \(ETUDE_TRACEBACK=1 shows where\)",
    "nan": "its reward is nan in row 1, must be a finite number",
    "rewards": r"its reward has shape \(3,\), must be \(2,\)",
    "bounds": r"its observation is 7.0 at \[0\] of row 1, must be finite and within -1.0 to 1.0",
    "unfinite": r"its observation is inf at \[0\] of row 1, must be finite",
    "shape": r"its observation has shape \(2, 1\), must be \(2, 2\)",
}


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2])
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("late", ["", "late "])
def test_what_it_does_wrong_is_told_with_its_name_the_seed_and_the_step(
    wrong: str, late: str, mode: AutoresetMode
) -> None:
    register(late + wrong)
    env = make_vector("slide", 2, autoreset_mode=mode)
    env.reset(seed=[7, 9])
    seed, episode = (9 if "row 1" in WRONG[wrong] else 7), (2 if late else 1)
    told = (
        rf"^task slide: {WRONG[wrong]}.* \(seed {seed}, episode {episode} of that seed, step {BAD}, and 1 beside it\)$"
    )
    with pytest.raises(RunError, match=told) as caught:
        for _ in range(2 * HORIZON):
            env.step(np.zeros((2, 1), np.float32))
    assert "\n" not in str(caught.value)


def test_a_start_that_fails_is_told_with_its_seed() -> None:
    register("reset")
    with pytest.raises(RunError, match=r"^task slide: reset raised KeyError: 'start'.*\(seed 4, episode 1 .* step 0"):
        make_vector("slide", 1).reset(seed=4)


def test_a_privileged_state_that_fails_is_told_as_the_tasks() -> None:
    register("privileged")
    with pytest.raises(RunError, match="^task slide: privileged_state raised KeyError: 'gone'"):
        measure_references("slide", 1)


def test_one_that_cannot_be_made_is_a_line() -> None:
    register("making")
    with pytest.raises(RequestError, match="^task slide: its environment cannot be made: OSError: no such file$"):
        make_vector("slide", 1)


def test_what_cannot_be_played_is_told_by_its_check() -> None:
    register("nan")
    finding = next(run_checks(Subject("slide"), CHECKS))
    assert finding.outcome == "failed" and finding.reason.startswith("task slide: its reward is nan in row 0")

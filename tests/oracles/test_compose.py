"""Compositions made in one call."""

from typing import Any

import numpy as np
import pytest

import etude
from etude import compose, get_task, register_task
from etude.curriculum.cli import main
from etude.envs import RequestError, Task
from etude.envs.registry import task_class
from etude.envs.tabletop.composition import STAGE, Composition
from etude.oracles import fingerprint, get_oracle, measure_oracle


def locked(scene: Any, ids: Any, rngs: Any) -> None:
    """Lever at half its way."""
    scene.lever_angle[ids] = 0.4


def test_a_composition_is_played_through_by_its_parts_oracles() -> None:
    spec = compose("my-chain", parts=["press-button", "pull-lever", "press-button"])
    assert (spec.kind, spec.parts) == ("composition", ("press-button", "pull-lever"))
    assert spec.horizon == 2 * get_task("press-button").horizon + get_task("pull-lever").horizon
    assert spec.description == "press-button, then pull-lever, then press-button."
    measured = measure_oracle("my-chain", episodes=16)
    assert measured["oracle"]["success"] == 1
    assert measured["random"]["return"] < 0.3 * measured["oracle"]["return"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parts", "least"),
    [
        (["open-drawer", "press-button"], 0.99),
        (["pull-lever", "push"], 0.99),
        (["open-drawer", "push"], 0.97),
        (["grasp", "lift", "carry", "place", "press-button"], 0.99),
    ],
    ids=lambda given: "+".join(given) if isinstance(given, list) else str(given),
)
def test_oracles_leave_what_the_part_before_has_pulled_out(parts: list[str], least: float) -> None:
    compose("my-chain", parts=parts)
    assert measure_oracle("my-chain", episodes=200)["oracle"]["success"] >= least


def test_its_reward_is_staged_and_its_start_the_common_one() -> None:
    compose("my-chain", parts=["press-button", "open-drawer"])
    env = etude.make_vector("my-chain", 2)
    other = etude.make_vector("open-drawer", 2)
    env.reset(seed=4), other.reset(seed=4)
    scene: Any = env.unwrapped.scene  # type: ignore[attr-defined]
    assert np.array_equal(scene.cube, other.unwrapped.scene.cube)  # type: ignore[attr-defined]
    task = task_class("my-chain")()
    scene.latch[:, STAGE] = [0, 1]
    first, second = task.reward(scene)
    assert 0 < first < 0.5 < second < 1
    env.close(), other.close()


def test_options_say_horizon_start_version_and_description() -> None:
    spec = compose("slow", ["pull-lever"], horizon=33, prepare=locked, version=2, description="Slowly.")
    assert (spec.horizon, spec.version, spec.gymnasium_id) == (33, 2, "etude/Slow-v2")
    assert spec.description == "Slowly." and spec.starts.startswith("Lever at half its way; robot at home")
    env = etude.make_vector("slow", 3)
    env.reset(seed=0)
    assert np.all(env.unwrapped.scene.lever_angle == 0.4)  # type: ignore[attr-defined]
    env.close()


def test_what_it_depends_on_are_its_parts_and_the_file_that_composes_it() -> None:
    spec = compose("my-chain", parts=["press-button", "open-drawer"])
    assert {"test_compose.py", "press_button.py", "open_drawer.py"} <= {path.name for path in spec.sources}
    assert fingerprint("my-chain", 2)["sources"] != fingerprint("unlock-drawer", 2)["sources"]


def test_the_scene_holds_what_any_part_needs() -> None:
    compose("my-stack", parts=["press-button", "stack"])
    task: Any = task_class("my-stack")
    assert issubclass(task, Composition) and task.cubes == 2 and not task.shows_goal
    compose("my-reach", parts=["press-button", "reach"])
    assert task_class("my-reach").shows_goal


class Flat(Task):
    """Not a stage of anything."""

    id, horizon, starts = "flat", 9, "anywhere"

    def reset(self, *arguments: Any) -> None: ...

    def reward(self, scene: Any) -> Any: ...

    def success(self, scene: Any) -> Any: ...


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (["press-buton"], "task 'mine': unknown task 'press-buton'; did you mean press-button"),
        (["reach", "mine"], "task 'mine': is a part of itself"),
        (["reach", "unlock-drawer"], "task 'mine': its part 'unlock-drawer' is a composition; name what that is made"),
        (["flat"], "task 'mine': its part 'flat' is no Primitive"),
        (["elsewhere"], "task 'mine': its part task 'elsewhere': is not one of the tabletop"),
        ([], r"task 'mine': parts \[\], must be a list of primitives' ids"),
        ("reach", "task 'mine': parts 'reach', must be a list"),
        (["reach", 7], "task 'mine': its part 7 is no id; name it by its id"),
        ([Flat], "task 'mine': its part <class .*Flat'> is no id"),
    ],
)
def test_wrong_parts_are_refused_in_a_line(parts: Any, told: str) -> None:
    register_task(Flat)
    register_task(etude.TaskSpec(id="elsewhere", horizon=9, make_vector=lambda number: ...))  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=f"^{told}"):
        compose("mine", parts=parts)


def test_what_prepares_a_start_is_a_function() -> None:
    with pytest.raises(RequestError, match="^task 'mine': prepare 3, must be a function of scene, ids and rngs"):
        compose("mine", parts=["reach"], prepare=3)  # type: ignore[arg-type]


def test_a_composition_of_one_that_was_composed_is_refused() -> None:
    compose("one", parts=["reach"])
    with pytest.raises(RequestError, match="its part 'one' is a composition"):
        compose("two", parts=["one"])


def test_an_id_is_composed_once() -> None:
    compose("mine", parts=["reach"])
    oracle = get_oracle("mine")
    with pytest.raises(RequestError, match="task id 'mine': already registered by Mine"):
        compose("mine", parts=["press-button"])
    assert get_oracle("mine") is oracle


@pytest.mark.parametrize(
    "line",
    ["compose('mine', ['reech'])", "compose('mine', ['mine'])", "[compose('mine', ['reach']) for _ in range(2)]"],
)
def test_on_the_command_line_a_wrong_composition_is_a_line_and_exit_2(
    line: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lab.py").write_text(f"from etude import compose\n{line}\n")
    (tmp_path / "suite.yaml").write_text(
        "name: mine\ntasks: [reach]\nbudget: 64\nevaluation: {every: 64}\nagent: ppo\nimports: [lab.py]\n"
    )
    assert main(["run", str(tmp_path / "suite.yaml")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "lab.py: task" in error and "mine" in error

import subprocess
import sys
from typing import Any

import pytest

import etude
from etude.envs import RequestError, Task, TaskSpec, get_task, make_vector, register_task, task_ids
from etude.envs.tabletop.reach import Reach


def derived(**attributes: Any) -> type[Task]:
    return type("Derived", (Reach,), attributes)


def test_the_tasks_are_registered_parts_before_compositions() -> None:
    ids = task_ids()
    assert {"reach", "press-button", "open-drawer", "unlock-drawer"} <= set(ids)
    for task_id in ids:
        assert all(ids.index(part) < ids.index(task_id) for part in get_task(task_id).parts)


def test_a_spec_says_what_the_project_knows_of_a_task() -> None:
    spec = get_task("unlock-drawer")
    assert (spec.kind, spec.parts, spec.horizon) == ("composition", ("press-button", "open-drawer"), 80)
    assert spec.gymnasium_id == "etude/UnlockDrawer-v0"
    assert spec.description.startswith("Press the button that unlocks the drawer")
    assert "±4 cm" in spec.starts and "20 x 25 cm" in spec.starts and "±45°" in spec.starts


def test_a_composition_depends_on_the_files_of_its_parts() -> None:
    names = {path.name for path in get_task("unlock-drawer").sources}
    assert {"unlock_drawer.py", "press_button.py", "open_drawer.py", "scene.xml", "scene.py", "vector.py"} <= names
    assert "reach.py" not in names
    assert all(path.is_file() for path in get_task("unlock-drawer").sources)


def test_an_unknown_task_is_answered_with_the_nearest_names() -> None:
    with pytest.raises(RequestError, match="unknown task 'open-draw'; did you mean open-drawer"):
        get_task("open-draw")
    with pytest.raises(RequestError, match="unknown task"):
        make_vector("zzz", 1)


def test_an_id_is_registered_once() -> None:
    with pytest.raises(RequestError, match="'reach': already registered by Reach"):
        register_task(derived())


@pytest.mark.parametrize("task_id", ["Reach", "reach_far", "reach far", "-reach", "reach-", "9reach", "a/b", ""])
def test_an_id_is_lower_case_words_joined_by_hyphens(task_id: str) -> None:
    with pytest.raises(RequestError, match="lower-case words joined by hyphens"):
        register_task(derived(id=task_id))


def test_a_part_must_be_registered() -> None:
    with pytest.raises(RequestError, match="unknown task 'reech'; did you mean reach"):
        register_task(derived(id="reach-twice", kind="composition", parts=("reech",)))


def test_a_task_is_no_part_of_itself() -> None:
    with pytest.raises(RequestError, match="task 'again': is a part of itself"):
        register_task(derived(id="again", kind="composition", parts=("reach", "again")))


def test_a_composition_is_no_part() -> None:
    with pytest.raises(RequestError, match="its part 'unlock-drawer' is a composition; name .* press-button, open-dra"):
        register_task(derived(id="more", kind="composition", parts=("unlock-drawer",)))


def test_a_class_that_is_not_whole_is_told_what_it_lacks() -> None:
    class Bare(Task):
        id = "bare"

    with pytest.raises(RequestError, match="task class .*Bare: has no horizon, starts, reset, reward, success"):
        register_task(Bare)


def test_a_horizon_that_nobody_sees_the_end_of_is_refused() -> None:
    with pytest.raises(RequestError, match="task 'far': horizon 1_000_000_000_000, must be at most 1_000_000 steps"):
        register_task(derived(id="far", horizon=10**12))


@pytest.mark.parametrize("horizon", [0, -1, 2.5, "60", True])
def test_a_horizon_is_a_number_of_steps(horizon: object) -> None:
    with pytest.raises(RequestError, match="task 'far': horizon .*, must be a number of steps above 0"):
        register_task(derived(id="far", horizon=horizon))


def test_a_class_that_was_typed_in_has_no_file_of_its_own() -> None:
    typed: dict[str, Any] = {"__name__": "typed", "Reach": Reach}
    exec("class Typed(Reach):\n    id = 'typed'", typed)
    assert set(register_task(typed["Typed"]).sources) == set(get_task("reach").sources)


def test_a_spec_is_registered_as_it_is() -> None:
    spec = TaskSpec(id="elsewhere", horizon=9, make_vector=get_task("reach").make_vector)
    assert register_task(spec) is spec is get_task("elsewhere")
    assert make_vector("elsewhere", 3).num_envs == 3
    with pytest.raises(RequestError, match="'elsewhere': already registered"):
        register_task(spec)


def test_importing_the_package_loads_no_simulator_and_no_learner() -> None:
    heavy = "{'mujoco', 'torch', 'stable_baselines3', 'wandb', 'matplotlib', 'scipy'}"
    code = f"import sys, etude; print(sorted({heavy} & set(sys.modules)), etude.task_ids())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[] ('reach'")


def test_the_public_api_is_what_the_package_lists() -> None:
    assert all(hasattr(etude, name) for name in etude.__all__)
    assert etude.get_task("reach").make_vector(2).num_envs == 2


def test_two_ids_that_are_one_to_gymnasium_are_refused() -> None:
    register_task(derived(id="knob-2"))
    for version in (0, 1):
        with pytest.raises(RequestError, match="'knob2': is etude/Knob2 to Gymnasium, as 'knob-2' is; take another"):
            register_task(derived(id="knob2", version=version))
    env: Any = make_vector("knob-2", 1)
    assert env.unwrapped.task.id == "knob-2"
    env.close()


@pytest.mark.parametrize("version", ["two", -1, 1.0, True, None])
def test_a_version_is_a_whole_number(version: object) -> None:
    with pytest.raises(RequestError, match="^task 'other': version .*, must be a whole number from 0"):
        register_task(derived(id="other", version=version))


@pytest.mark.parametrize("thing", [Reach(), None, "reach", RequestError])
def test_what_is_no_class_of_a_task_is_refused(thing: Any) -> None:
    with pytest.raises(RequestError, match="is no task; register a class derived from etude.Task, not an object of it"):
        register_task(thing)

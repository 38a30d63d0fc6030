import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from etude.curriculum.library import find_suite, names, read_mapping
from etude.curriculum.plan import groups_of, plan_run
from etude.curriculum.suite import REGIMES, Suite, load_suite
from etude.curriculum.yaml_text import parse
from etude.envs import get_task, task_ids

PAGE = (Path(__file__).parent.parent.parent / "docs" / "suites.md").read_text(encoding="utf-8")


def rows(title: str) -> dict[str, list[str]]:
    """The rows of the first table under a title, by their first cell."""
    section = PAGE.split(f"# {title}\n")[1].split("\n#")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    table = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    return {row[0].strip("`"): row[1:] for row in table}


def keys_of(model: type[BaseModel], above: str = "") -> dict[str, Any]:
    found = {}
    for key, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found |= keys_of(inner, f"{above}{key}.")
        else:
            found[above + key] = field
    return found


def test_the_page_explains_every_key_and_no_other() -> None:
    assert set(rows("The keys")) - {"agent"} == set(keys_of(Suite))


def test_the_pages_defaults_are_the_real_ones() -> None:
    for key, field in keys_of(Suite).items():
        stated = rows("The keys")[key][1].strip("`")
        if stated == "both":
            continue
        if field.is_required():
            assert stated == "required", key
        else:
            default = field.get_default()
            assert parse(stated) == (list(default) if isinstance(default, tuple) else default), key


OTHERS = rows("The other compositions")


def test_every_composition_has_a_suite_of_its_name() -> None:
    compositions = [task_id for task_id in task_ids() if get_task(task_id).kind == "composition"]
    assert {load_suite(name).composition for name in ("quick", *OTHERS)} == set(compositions)


@pytest.mark.parametrize("name", OTHERS)
def test_the_suite_of_a_composition_differs_from_quick_as_the_page_says(name: str) -> None:
    tasks, budget = (parse(cell.strip("`")) for cell in OTHERS[name])
    assert read_mapping(find_suite(name)) == read_mapping(find_suite("quick")) | {
        "name": name,
        "tasks": tasks,
        "budget": budget,
        "agent": "ppo-gripper",
        "method": "clone",
        "task_id": "part",
    }
    practised = ["grasp", "lift", "carry", "place", "stack"] if name == "stack-from-table" else [*get_task(name).parts]
    assert tasks == [*practised, name]


@pytest.mark.parametrize("name", sorted({*names("suites")} - {*OTHERS}))
def test_the_page_gives_a_shipped_suite_as_it_is(name: str) -> None:
    stated = {key: parse(row[0].strip("`")) for key, row in rows(name).items()}
    assert stated == read_mapping(find_suite(name))


def test_the_page_tells_every_regime_with_its_steps_in_quick() -> None:
    suite = load_suite("quick")
    stated = {regime: int(row[3].replace(",", "")) for regime, row in rows("Regimes").items()}
    planned = {
        regime: sum(plan_run(suite, group).segments[-1].end for group in groups_of(suite, regime)) for regime in REGIMES
    }
    assert stated == planned


def test_the_example_of_ones_own_loads(tmp_path: Path) -> None:
    example = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[-1]
    path = tmp_path / "two-drawers.yaml"
    path.write_text(example)
    assert load_suite(str(path)).composition == "open-drawer"


def test_every_override_on_the_page_is_taken() -> None:
    for argument in rows("Changing a suite from the command line"):
        load_suite("quick", [argument])

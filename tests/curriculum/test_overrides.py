from pathlib import Path
from typing import Any

import pytest

from etude.curriculum.library import find_suite, read_mapping
from etude.curriculum.overrides import override
from etude.curriculum.suite import Suite, load_suite
from etude.envs.errors import RequestError

SETTINGS: dict[str, Any] = {
    "name": "mine",
    "tasks": ["reach", "press-button"],
    "budget": {"reach": 1, "default": 2},
    "seeds": [0, 1, 2],
    "agent": {"algorithm": "PPO", "parameters": {"n_steps": 64}},
}


def at(settings: dict[str, Any], key: str) -> Any:
    value: Any = settings
    for part in key.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("seeds=[0,1,2,3]", [0, 1, 2, 3]),
        ("seeds.0=5", 5),
        ("agent.parameters.learning_rate=3e-4", 3e-4),
        ("agent.parameters.policy_kwargs.net_arch=[32, 32]", [32, 32]),
        ("agent.parameters={}", {}),
        ("budget.reach=40_960", 40_960),
        ("budget=1_024", 1024),
        ("wandb.mode=disabled", "disabled"),
        ("name=other", "other"),
        ("name=a=b", "a=b"),
    ],
)
def test_an_override_reaches_its_key(change: str, value: object) -> None:
    changed = override(SETTINGS, [change])
    found = at(changed, change.partition("=")[0])
    assert found == value
    assert type(found) is type(value)


def test_every_key_of_a_shipped_suite_can_be_overridden() -> None:
    suite = load_suite("quick")
    settings = read_mapping(find_suite("quick"))
    for key in Suite.model_fields:
        assert override(settings, [f"{key}=null"])[key] is None
    for key in suite.agent.parameters:
        changed = override(settings, [f"agent.parameters.{key}=null"])
        assert changed["agent"]["parameters"][key] is None


def test_the_settings_themselves_stay_as_they_were() -> None:
    before = repr(SETTINGS)
    override(SETTINGS, ["seeds.0=5", "agent.parameters.n_steps=3", "budget.reach=7"])
    assert repr(SETTINGS) == before


def test_one_tasks_budget_can_be_set_where_all_share_a_number() -> None:
    assert override({"budget": 8}, ["budget.reach=4"])["budget"] == {"default": 8, "reach": 4}


def test_tasks_left_out_take_their_budgets_with_them() -> None:
    assert override(SETTINGS, ["tasks=[press-button]"])["budget"] == {"default": 2}
    assert override(SETTINGS, ["tasks=press-button"])["budget"] == {"default": 2}


def test_the_last_of_several_overrides_of_a_key_wins() -> None:
    assert override(SETTINGS, ["seeds=[1]", "seeds=[2]"])["seeds"] == [2]


def test_another_algorithm_drops_the_files_parameters_whatever_the_order() -> None:
    for changes in (
        ["agent.algorithm=SAC", "agent.parameters.gamma=0.9"],
        ["agent.parameters.gamma=0.9", "agent.algorithm=SAC"],
    ):
        assert override(SETTINGS, changes)["agent"] == {"algorithm": "SAC", "parameters": {"gamma": 0.9}}


def test_the_same_algorithm_keeps_the_files_parameters() -> None:
    assert override(SETTINGS, ["agent.algorithm=PPO"]) == SETTINGS


def test_an_agent_by_name_can_be_changed_further() -> None:
    agent = override(SETTINGS, ["agent.parameters.gamma=0.5", "agent=sac"])["agent"]
    assert (agent["algorithm"], agent["parameters"]["gamma"]) == ("SAC", 0.5)


def test_lists_that_the_file_leaves_to_their_defaults_can_be_indexed(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("{name: mine, tasks: [reach], budget: 2048, evaluation: {every: 2048}, agent: ppo}")
    assert load_suite(str(path), ["seeds.1=7"]).seeds == (0, 7, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("seeds", "'seeds' is not an override; write key=value"),
        ("=3", "'=3' is not an override; write key=value"),
        ("a..b=1", "'a..b=1' is not an override; write key=value"),
        ("seeds=[0,", "seeds: '[0,' is not a YAML value: line 1, column 4"),
        ("seeds.3=5", "seeds.3: the list seeds has no such place; its places are 0 to 2"),
        ("seeds.last=5", "seeds.last: the list seeds has no such place; its places are 0 to 2"),
        ("seeds.0.x=5", "seeds.0.x: seeds.0 is 0, which holds no keys"),
        ("name.x=3", "name.x: name is 'mine', which holds no keys"),
    ],
)
def test_an_override_that_leads_nowhere_is_refused(change: str, message: str) -> None:
    with pytest.raises(RequestError) as raised:
        override(SETTINGS, [change])
    assert message in str(raised.value)


def test_a_place_in_an_empty_list_is_refused() -> None:
    with pytest.raises(
        RequestError, match="evaluation.also.0: the list evaluation.also has no such place; give the whole"
    ):
        load_suite("quick", ["evaluation.also=[]", "evaluation.also.0=2048"])

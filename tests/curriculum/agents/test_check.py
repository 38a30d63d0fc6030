from typing import Any

import numpy as np
import pytest

from etude.curriculum.agents.check import rollout_size
from etude.curriculum.agents.recipe import Recipe
from etude.curriculum.suite import AgentConfig
from etude.envs.errors import RequestError


@pytest.mark.parametrize(
    ("algorithm", "environments", "parameters", "size"),
    [
        ("PPO", 32, {"n_steps": 64}, 2048),
        ("PPO", 2, {}, 4096),
        ("A2C", 8, {}, 40),
        ("SAC", 16, {}, 16),
        ("SAC", 16, {"train_freq": [4, "step"]}, 64),
        ("TD3", 1, {"train_freq": 8}, 8),
        ("TQC", 4, {}, 4),
        ("PPO", 65_536, {"n_steps": 2048}, 134_217_728),
    ],
)
def test_the_rollout_is_what_lies_between_two_updates(
    algorithm: str, environments: int, parameters: dict[str, Any], size: int
) -> None:
    config = AgentConfig(algorithm=algorithm, environments=environments, parameters=parameters)
    assert rollout_size(config) == size


def test_checking_leaves_the_random_generators_alone() -> None:
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    rollout_size(AgentConfig(algorithm="PPO"))
    assert np.random.random() == expected


def test_an_agent_of_ones_own_says_what_its_rollout_is_and_what_it_does_not_take(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agents_of_mine.py").write_text(
        "class Plain:\n"
        "    def method(self, *arguments): ...\n"
        "    begin_task = learn = end_task = act = save = load = save_policy = load_policy = method\n"
        "class Wise(Plain):\n"
        "    @staticmethod\n"
        "    def rollout_size(environments, parameters):\n"
        "        if 'depth' in parameters:\n"
        "            raise ValueError('depth is no parameter of Wise')\n"
        "        return parameters.get('size', 7 * environments)\n"
        "plain = Plain()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert rollout_size(AgentConfig(algorithm="agents_of_mine:Plain", environments=3)) == 3
    assert rollout_size(AgentConfig(algorithm="agents_of_mine:Wise", environments=3)) == 21
    with pytest.raises(RequestError, match="agent.parameters: depth is no parameter of Wise"):
        rollout_size(AgentConfig(algorithm="agents_of_mine:Wise", parameters={"depth": 2}))
    with pytest.raises(RequestError, match="its rollout_size is 0, not a number above 0"):
        rollout_size(AgentConfig(algorithm="agents_of_mine:Wise", parameters={"size": 0}))
    with pytest.raises(RequestError, match="agents_of_mine:plain is not a class"):
        rollout_size(AgentConfig(algorithm="agents_of_mine:plain"))
    with pytest.raises(RequestError, match="agent.algorithm: .* has no 'Plane'; did you mean Plain"):
        rollout_size(AgentConfig(algorithm="agents_of_mine:Plane"))
    with pytest.raises(RequestError, match="agent.algorithm: .* cannot be imported"):
        rollout_size(AgentConfig(algorithm="agents_of_yours:Plain"))


@pytest.mark.parametrize("name", ["os:path", "collections:OrderedDict", "builtins:len"])
def test_what_lacks_an_agents_methods_is_refused_by_naming_them(name: str) -> None:
    with pytest.raises(RequestError) as raised:
        rollout_size(AgentConfig(algorithm=name))
    assert str(raised.value) == (
        f"agent.algorithm: {name} is not an agent: "
        "it has no begin_task, learn, end_task, act, save, load, save_policy, load_policy"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("os:nosuch", "agent.algorithm: 'os:nosuch': os has no 'nosuch'"),
        ("a:b:c", "agent.algorithm: 'a:b:c' does not name an object, as module:Name does"),
        ("os:", "agent.algorithm: 'os:' does not name an object, as module:Name does"),
    ],
)
def test_a_name_that_leads_nowhere_is_told_shortly(name: str, message: str) -> None:
    with pytest.raises(RequestError) as raised:
        rollout_size(AgentConfig(algorithm=name))
    assert str(raised.value) == message


def test_what_does_not_fit_into_memory_is_refused() -> None:
    with pytest.raises(RequestError, match="agent.parameters: SAC refuses them: Unable to allocate"):
        rollout_size(AgentConfig(algorithm="SAC", parameters={"buffer_size": 10**15}))


def test_checking_many_environments_takes_the_memory_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []
    build = Recipe.build

    def note(recipe: Recipe, envs: Any, seed: int) -> Any:
        built.append(envs.num_envs)
        return build(recipe, envs, seed)

    monkeypatch.setattr(Recipe, "build", note)
    rollout_size(AgentConfig(algorithm="PPO", environments=65_536))
    assert built == [2]

from typing import Any

import numpy as np
import pytest

from etude.curriculum.agents.check import rollout_size
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
        "class Plain: ...\n"
        "class Wise:\n"
        "    @staticmethod\n"
        "    def rollout_size(environments, parameters):\n"
        "        if 'depth' in parameters:\n"
        "            raise ValueError('depth is no parameter of Wise')\n"
        "        return 7 * environments\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert rollout_size(AgentConfig(algorithm="agents_of_mine:Plain", environments=3)) == 3
    assert rollout_size(AgentConfig(algorithm="agents_of_mine:Wise", environments=3)) == 21
    with pytest.raises(RequestError, match="agent.parameters: depth is no parameter of Wise"):
        rollout_size(AgentConfig(algorithm="agents_of_mine:Wise", parameters={"depth": 2}))
    with pytest.raises(RequestError, match="agent.algorithm: .* has no 'Plane'; did you mean Plain"):
        rollout_size(AgentConfig(algorithm="agents_of_mine:Plane"))
    with pytest.raises(RequestError, match="agent.algorithm: .* cannot be imported"):
        rollout_size(AgentConfig(algorithm="agents_of_yours:Plain"))

from typing import Any

import pytest

from etude.envs import RequestError, task_ids
from etude.oracles import get_oracle, register_oracle


@pytest.mark.parametrize("task", task_ids())
def test_every_task_has_an_oracle_of_its_own(task: str) -> None:
    assert get_oracle(task).task == task


def test_an_unknown_task_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RequestError, match="open-drawr.*open-drawer"):
        get_oracle("open-drawr")


def test_a_task_without_an_oracle_is_refused(own_registry: dict[str, Any]) -> None:
    del own_registry["reach"]
    with pytest.raises(RequestError, match="task 'reach': has no oracle; register one"):
        get_oracle("reach")


def test_a_second_oracle_is_refused(own_registry: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match="task 'reach': has an oracle already, ReachOracle"):
        register_oracle(get_oracle("reach"))

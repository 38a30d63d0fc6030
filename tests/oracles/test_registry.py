from typing import Any

import pytest

from etude.envs import RequestError, task_ids
from etude.oracles import get_oracle, register_floor, register_oracle
from etude.oracles.tabletop.motion import TabletopOracle


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


@pytest.mark.parametrize("thing", [None, "reach", RequestError, get_oracle("reach")(2)])
def test_what_is_no_class_of_an_oracle_is_refused(thing: Any) -> None:
    with pytest.raises(RequestError, match="is not an oracle; register a class derived from etude.Oracle"):
        register_oracle(thing)
    with pytest.raises(RequestError, match="is not a floor; register a class"):
        register_floor(thing)


def test_an_oracle_that_is_not_whole_is_told_what_it_lacks() -> None:
    class Aimless(TabletopOracle):
        pass

    with pytest.raises(RequestError, match="Aimless, an oracle: has no task, aim$"):
        register_oracle(Aimless)


def test_a_task_without_an_oracle_is_told_of_one_for_a_task_that_is_not_there(own_registry: dict[str, Any]) -> None:
    register_oracle(type("Misspelt", (get_oracle("reach"),), {"task": "reech"}))
    del own_registry["reach"]
    with pytest.raises(RequestError, match="task 'reach': has no oracle; .*Misspelt is for 'reech', no task$"):
        get_oracle("reach")

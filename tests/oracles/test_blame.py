import re
from typing import Any

import gymnasium
import numpy as np
import pytest

from etude.envs import RequestError, register_task
from etude.envs import registry as tasks
from etude.envs.errors import RunError
from etude.oracles import Oracle, get_oracle, measure_oracle, register_oracle
from etude.oracles import registry as oracles
from etude.oracles.blame import told_of
from etude.oracles.tabletop.motion import TabletopOracle


def fails(*_: Any) -> Any:
    raise RuntimeError("rw")


def make_mine(**methods: Any) -> str:
    """Register a task of one's own that differs from reach in a method, with the oracle of reach."""
    task = f"mine-{next(iter(methods))}-{len(gymnasium.registry)}"
    register_task(type("Mine", (tasks._classes["reach"],), {"id": task, "__doc__": "Mine."} | methods))
    register_oracle(type("OracleOfMine", (get_oracle("reach"),), {"task": task}))
    return task


@pytest.mark.parametrize("method", ["reset", "advance", "reward", "success"])
def test_a_failure_of_a_tasks_is_told_with_its_method(method: str) -> None:
    def raises(self: Any, *_: Any) -> Any:
        raise RuntimeError("rw")

    raises.__code__ = raises.__code__.replace(co_name=method)
    task = make_mine(**{method: raises})
    with pytest.raises(RunError, match=rf"^task {task}: {method} raised RuntimeError: rw \(ETUDE_TRACEBACK=1 shows"):
        measure_oracle(task, episodes=2)


def test_a_failure_of_an_oracles_is_told_as_its(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Oracle):
        task = "reach"

        def act(self, privileged: dict[str, Any]) -> Any:
            actions = np.zeros((self.size, 4), np.float32)
            return actions if privileged["elapsed"][0] < 5 else privileged["gaol"]

    monkeypatch.setitem(oracles._classes, "reach", Broken)
    told = r"NoWordError: the privileged state has no word 'gaol'; did you mean goal.* \(step 5\)$"
    with pytest.raises(RunError, match=f"^oracle of reach raised {told}"):
        measure_oracle("reach", episodes=2)


def test_an_oracle_that_asks_to_exit_is_told_as_one_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    class Leaving(Oracle):
        task = "reach"

        def act(self, privileged: dict[str, Any]) -> Any:
            raise SystemExit

    monkeypatch.setitem(oracles._classes, "reach", Leaving)
    with pytest.raises(RunError, match="^oracle of reach raised SystemExit .ETUDE_TRACEBACK=1 shows"):
        measure_oracle("reach", episodes=2)


@pytest.mark.parametrize("method", ["reward", "success"])
def test_a_wrong_shape_is_refused(method: str) -> None:
    task = make_mine(**{method: lambda self, scene: np.ones(1, bool)})
    with pytest.raises(RequestError, match=re.escape(f"task {task}: {method} has shape (1,), must be (4,)")):
        measure_oracle(task, episodes=4)


def test_what_is_nobodys_is_told_of_another_or_left_as_it_is() -> None:
    with pytest.raises(RunError, match="^agent own:Still raised RuntimeError: rw"), told_of("agent own:Still"):
        fails()
    with pytest.raises(RuntimeError, match="^rw$"), told_of():
        fails()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((np.zeros(3), True), r"aim gives a target of shape \(3,\), must be \(N, 3\), here \(2, 3\) \(step 0\)$"),
        (
            (np.zeros((2, 3)), np.zeros((2, 1))),
            r"aim gives whether to close of shape \(2, 1\), must be \(N,\), here \(2,\), or one bool \(step 0\)$",
        ),
    ],
)
def test_an_aim_of_the_wrong_shape_is_told_as_its(monkeypatch: pytest.MonkeyPatch, given: Any, told: str) -> None:
    class Astray(TabletopOracle):
        task = "reach"

        def aim(self, privileged: Any, ahead: Any) -> Any:
            return given

    monkeypatch.setitem(oracles._classes, "reach", Astray)
    with pytest.raises(RequestError, match=f"^oracle of reach: {told}"):
        measure_oracle("reach", episodes=2)

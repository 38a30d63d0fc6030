from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from etude.curriculum.methods import Method, attach, get_method, register_method
from etude.curriculum.methods import method as methods
from etude.curriculum.runner import execute
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import load_suite
from etude.envs.errors import RequestError


class Optimised:
    def __init__(self) -> None:
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.optimiser = torch.optim.SGD([self.weight], lr=1.0)

    def optimisers(self) -> dict[str, torch.optim.Optimizer]:
        return {"only": self.optimiser}

    def step(self) -> list[float]:
        self.weight.grad = torch.ones(3)
        self.optimiser.step()
        return self.weight.tolist()


def test_finetune_leaves_every_step_alone() -> None:
    agent: Any = Optimised()
    attach(get_method("finetune")(), agent)
    assert agent.step() == [0, 0, 0]
    assert not agent.optimiser._optimizer_step_pre_hooks


def test_a_method_adjusts_gradients_before_a_step_and_mends_weights_after_it() -> None:
    class Halves(Method):
        def adjust_gradients(self, name: str, optimiser: torch.optim.Optimizer) -> None:
            assert name == "only"
            for parameter in optimiser.param_groups[0]["params"]:
                parameter.grad /= 2

        def after_step(self, name: str, optimiser: torch.optim.Optimizer) -> None:
            with torch.no_grad():
                optimiser.param_groups[0]["params"][0][0] = 1

    agent: Any = Optimised()
    attach(Halves(), agent)
    assert agent.step() == [1, 0.5, 0.5]


def test_gradient_hooks_need_an_agent_that_shows_its_optimisers() -> None:
    class Adjusts(Method):
        def adjust_gradients(self, name: str, optimiser: torch.optim.Optimizer) -> None: ...

    agent: Any = object()
    with pytest.raises(RequestError, match=r"Adjusts adjusts gradients; object has no optimisers\(\)"):
        attach(Adjusts(), agent)


@pytest.mark.parametrize("hook", ["adjust_gradients", "after_step"])
def test_a_method_that_the_agents_class_cannot_serve_is_refused_with_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hook: str
) -> None:
    monkeypatch.setattr(methods, "_methods", dict(methods._methods))
    (tmp_path / "blind.py").write_text(
        "class Blind:\n"
        "    def method(self, *arguments): ...\n"
        "    begin_task = learn = end_task = act = save = load = save_policy = load_policy = method\n"
        "class Open(Blind):\n"
        "    optimisers = dict\n"
    )
    register_method("hooked")(type("Hooked", (Method,), {hook: lambda self, name, optimiser: None}))
    suite = ["method=hooked", f"imports=[{tmp_path}/blind.py]", "agent.algorithm=blind:Blind"]
    with pytest.raises(RequestError, match=r"method: Hooked adjusts gradients; Blind has no optimisers\(\)"):
        load_suite("smoke", suite)
    assert load_suite("smoke", [*suite, "agent.algorithm=blind:Open"]).method == "hooked"
    assert load_suite("smoke", ["method=hooked"]).method == "hooked"


@pytest.mark.parametrize("name", ["os:path", "os:getcwd", "pathlib:Path"])
def test_what_is_no_method_is_refused(name: str) -> None:
    with pytest.raises(RequestError, match=f"method: {name} is not a method: a class made from etude"):
        load_suite("smoke", [f"method={name}"])


def test_unknown_and_taken_names_are_refused() -> None:
    with pytest.raises(RequestError, match="method: there is no 'finetun'; did you mean finetune"):
        get_method("finetun")
    with pytest.raises(RequestError, match="'finetune': already registered"):
        register_method("finetune")


def test_the_hooks_of_a_run_come_in_order(make_study: Callable[..., StudyFolder]) -> None:
    calls: list[str] = []

    @register_method("notes-calls")
    class NotesCalls(Method):
        def on_task_start(self, task: str, agent: Any) -> None:
            calls.append(f"start {task}")

        def on_task_end(self, task: str, agent: Any) -> None:
            calls.append(f"end {task}")

        def adjust_gradients(self, name: str, optimiser: torch.optim.Optimizer) -> None:
            calls.append(name)

        def after_step(self, name: str, optimiser: torch.optim.Optimizer) -> None:
            calls.append("after")

    execute(make_study(method="notes-calls").run("sequential-seed0").path)
    steps = ["policy", "after"] * 8
    assert calls == [
        *("start reach", *steps, "end reach"),
        *("start press-button", *steps, "end press-button"),
    ]

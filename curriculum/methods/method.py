"""What a continual-learning method is, and the registered ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from etude.curriculum.agents.names import resolve_object
from etude.curriculum.agents.protocol import Agent
from etude.envs.errors import RequestError, nearest

if TYPE_CHECKING:
    from torch.optim import Optimizer


class Method:
    """Hooks around an agent's tasks and optimisers; none has to do anything. One instance serves one run.

    In a run: `on_task_start`, then for every optimiser step `adjust_gradients`, the step, `after_step`; at the task's
    end `on_task_end`, the evaluation, `save`. A run that goes on from a save calls `load` in place of `on_task_start`.
    """

    def on_task_start(self, task: str, agent: Agent) -> None:
        """A task has begun: its environments are set, nothing has been learnt of it."""

    def on_task_end(self, task: str, agent: Agent) -> None:
        """A task's budget is used up; the agent still holds the task's environments and data."""

    def adjust_gradients(self, name: str, optimiser: Optimizer) -> None:
        """Change the gradients, `parameter.grad`, that an optimiser is about to follow.

        PPO has clipped them by then. SAC's actor step comes with the critic's gradients still in place.

        Args:
            name: of the optimiser, as `agent.optimisers()` has it.
            optimiser: its parameters are in `optimiser.param_groups`.
        """

    def after_step(self, name: str, optimiser: Optimizer) -> None:
        """Mend the weights after a step, whose momentum moves them even where the gradient is zero."""

    def save(self, folder: Path) -> None:
        """Write to an empty folder what the method keeps between tasks and steps."""

    def load(self, folder: Path, agent: Agent) -> None:
        """Stand where `save` was called; the agent has been loaded already."""


M = TypeVar("M", bound=Callable[[], Any])
_methods: dict[str, Callable[[], Method]] = {}


def register_method(name: str) -> Callable[[M], M]:
    """Make a method known to suites by a name: a decorator of a class, or of a function that makes one.

    Raises:
        RequestError: the name is taken.
    """
    if name in _methods:
        raise RequestError(f"method {name!r}: already registered")

    def register(make: M) -> M:
        _methods[name] = make
        return make

    return register


def get_method(name: str) -> Callable[[], Method]:
    """What makes the method of that name, registered or `module:Class`.

    Raises:
        RequestError: there is none; the message names the nearest.
    """
    if ":" in name:
        make: Callable[[], Method] = resolve_object(name, "method")
        return make
    if name not in _methods:
        raise RequestError(f"method: there is no {name!r}; {nearest(name, _methods)}")
    return _methods[name]


def attach(method: Method, agent: Agent) -> None:
    """Hang a method's gradient hooks on the agent's optimisers; those it does not define cost nothing.

    Raises:
        RequestError: the method has such hooks, and the agent shows no optimisers.
    """
    kind = type(method)
    before = kind.adjust_gradients is not Method.adjust_gradients
    after = kind.after_step is not Method.after_step
    if not before and not after:
        return
    optimisers: Callable[[], dict[str, Optimizer]] | None = getattr(agent, "optimisers", None)
    if optimisers is None:
        raise RequestError(f"method: {kind.__name__} adjusts gradients; {type(agent).__name__} has no optimisers()")
    for name, optimiser in optimisers().items():
        if before:
            optimiser.register_step_pre_hook(lambda o, *_, name=name: method.adjust_gradients(name, o))
        if after:
            optimiser.register_step_post_hook(lambda o, *_, name=name: method.after_step(name, o))

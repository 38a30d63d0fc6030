"""What a continual-learning method is, and the registered ones."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isclass
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
        """A task has begun, or `joint`, all of them at once: environments are set, nothing has been learnt of it."""

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

    def buffer_bytes(self) -> int:
        """The bytes of the samples that the method keeps to rehearse, where it keeps some; for the metrics of cost."""
        return 0

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


def check_method(name: str, agent: type | None) -> None:
    """Whether there is a method of that name, and its hooks find optimisers, as far as its class tells.

    Args:
        name: registered, or `module:Class`.
        agent: the class of an agent of the user's own; those of Stable-Baselines3 have optimisers.

    Raises:
        RequestError: it is not so.
    """
    make = get_method(name)
    if isclass(make) and issubclass(make, Method):
        if agent is not None and any(_gradient_hooks(make)):
            _optimisers_of(agent, agent, make)
    elif ":" in name:
        raise RequestError(f"method: {name} is not a method: a class made from etude.curriculum.methods.Method")


def attach(method: Method, agent: Agent) -> None:
    """Hang a method's gradient hooks on the agent's optimisers; those it does not define cost nothing.

    Raises:
        RequestError: the method has such hooks, and the agent shows no optimisers.
    """
    kind = type(method)
    before, after = _gradient_hooks(kind)
    if not before and not after:
        return
    optimisers: Callable[[], dict[str, Optimizer]] = _optimisers_of(agent, type(agent), kind)
    for name, optimiser in optimisers().items():
        if before:
            optimiser.register_step_pre_hook(lambda o, *_, name=name: method.adjust_gradients(name, o))
        if after:
            optimiser.register_step_post_hook(lambda o, *_, name=name: method.after_step(name, o))


def _gradient_hooks(kind: type[Method]) -> tuple[bool, bool]:
    """Whether a method adjusts gradients, and whether it mends weights after a step."""
    return kind.adjust_gradients is not Method.adjust_gradients, kind.after_step is not Method.after_step


def _optimisers_of(agent: object, agents: type, methods: type[Method]) -> Any:
    if not hasattr(agent, "optimisers"):
        raise RequestError(f"method: {methods.__name__} adjusts gradients; {agents.__name__} has no optimisers()")
    return agent.optimisers

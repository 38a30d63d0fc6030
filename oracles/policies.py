"""The policies that references are made of: a task's oracle, and two that fail."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from etude.envs import RequestError, RunError, stream_seed
from etude.envs.errors import nearest
from etude.oracles.blame import told_of
from etude.oracles.oracle import Oracle
from etude.oracles.registry import get_floor, get_oracle

CHUNK = 64

Policy = Callable[[NDArray[Any]], NDArray[Any]]


def oracle_policy(task_id: str, env: VectorEnv[Any, Any, Any]) -> Policy:
    """The task's oracle, from the start of the episodes of all simulations of `env`.

    Raises:
        RequestError: the task has no oracle; or, on acting, its oracle's actions do not fit the action space.
    """
    return scripted_policy(get_oracle(task_id), env)


def scripted_policy(policy: type[Oracle], env: VectorEnv[Any, Any, Any]) -> Policy:
    """An oracle, or a task's own floor, from the start of the episodes of all simulations of `env`.

    Raises:
        RequestError: on acting, the privileged state has no row a simulation, or the actions do not fit their space.
    """
    role = "floor" if get_floor(policy.task) is policy else "oracle"
    with told_of(f"task {policy.task}: its {role} {policy.__qualname__}, made for {env.num_envs} simulations,"):
        oracle = policy(env.num_envs)
    oracle.reset(np.arange(env.num_envs))
    shape = env.action_space.shape

    name = f"task {policy.task!r}: its {role} {policy.__qualname__} gave actions"

    def act(observations: NDArray[Any]) -> NDArray[Any]:
        with told_of(f"task {policy.task}: privileged_state"):
            state = env.unwrapped.privileged_state()  # type: ignore[attr-defined]
        for word, value in state.items():
            if (found := np.shape(value))[:1] != (env.num_envs,):
                told = f"privileged gives {word!r} of shape {found}, must be ({env.num_envs}, ...), a row a simulation"
                raise RequestError(f"task {policy.task!r}: {told}")
        try:
            with told_of(f"oracle of {policy.task}"):
                return checked(oracle.act(_Words(state)))
        except (RequestError, RunError) as error:
            raise type(error)(f"{error} (step {np.max(state.get('elapsed', 0))})") from error

    def checked(given: Any) -> NDArray[Any]:
        try:
            actions = np.asarray(given)
            finite = np.isfinite(actions)
        except (TypeError, ValueError):
            raise RequestError(f"{name} that are no array of numbers: {' '.join(repr(given).split()):.60}") from None
        if actions.shape != shape:
            raise RequestError(f"{name} of shape {actions.shape}; the action space has {shape}")
        if not finite.all():
            raise RequestError(f"{name} that are not finite, first in row {np.argwhere(~finite)[0][0]}")
        return actions

    return act


class _Words(dict[str, Any]):
    """The privileged state; a word that is not there brings the nearest."""

    def __missing__(self, word: str) -> Any:
        raise NoWordError(f"the privileged state has no word {word!r}; {nearest(word, self)}")


class NoWordError(KeyError):
    """What an oracle asked for is not in the privileged state."""

    __str__ = Exception.__str__  # KeyError's puts it in quotes.


def random_policy(task_id: str, env: VectorEnv[Any, Any, Any], seeds: Sequence[int]) -> Policy:
    """Uniformly random actions, each episode's from a stream of its own, whatever the other episodes are.

    Args:
        task_id: the task.
        env: E simulations.
        seeds: (E,) of the episodes.
    """
    streams = [_draws(env.single_action_space, stream_seed("random actions", task_id, seed)) for seed in seeds]
    return lambda observations: np.stack([next(stream) for stream in streams])


def zero_policy(env: VectorEnv[Any, Any, Any]) -> Policy:
    """The zero action."""
    actions = np.zeros(env.action_space.shape or (), env.action_space.dtype)
    return lambda observations: actions


def _draws(space: Space[Any], seed: int) -> Iterator[Any]:
    """One action after another; bounded reals are drawn in chunks, since `Box.sample` costs as much as a step."""
    space = copy.deepcopy(space)
    space.seed(seed)
    while True:
        if isinstance(space, Box) and space.is_bounded() and space.dtype.kind == "f":
            yield from space.np_random.uniform(space.low, space.high, (CHUNK, *space.shape)).astype(space.dtype)
        else:
            yield space.sample()

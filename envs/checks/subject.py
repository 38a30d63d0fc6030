"""The task under check: its environments, and the actions that it is tried with."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import gymnasium
import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from numpy.typing import NDArray

from etude.envs.foreign import ForeignVectorEnv
from etude.envs.registry import TaskSpec, get_task, make_vector
from etude.envs.vector import TabletopVectorEnv

Envs = VectorEnv[Any, Any, Any]
Floats = NDArray[np.float64]
Actions = Sequence[Any]

HELD = 5
CORNERS = 8  # dimensions of the action space up to which all of its corners are tried


@dataclass(frozen=True)
class Spaces:
    """Spaces that a task should have.

    Attributes:
        of: whose they are, in words.
        observation: of one simulation.
        action: of one simulation.
    """

    of: str
    observation: Space[Any]
    action: Space[Any]


class Subject:
    """A task under check.

    Attributes:
        spec: the task.
        spaces: those that it should have; a tabletop task's are the tabletop's whatever is given.
        prelude: Python that makes the task known in a fresh process.
        episodes: of each policy, where oracle and failing policies are measured.
        wild: what several checks see in the same wild episodes, once they have been played.
        played: what several checks see in the same episodes of the oracle and the failing policies.
    """

    def __init__(self, task_id: str, *, spaces: Spaces | None = None, prelude: str = "", episodes: int = 500) -> None:
        """Take a registered task.

        Raises:
            RequestError: there is no such task.
        """
        self.spec: TaskSpec = get_task(task_id)
        self.spaces, self.prelude, self.episodes = spaces, prelude, episodes
        self.wild: Any = None
        self.played: Any = None

    def make(self, num_envs: int, *, threads: int = 1, mode: AutoresetMode = AutoresetMode.SAME_STEP) -> Envs:
        """Simulations that, unless another mode is given, start the next episode in the step that ends one."""
        return make_vector(self.spec.id, num_envs, autoreset_mode=mode, threads=threads)

    @cached_property
    def kind(self) -> type[Envs]:
        """The class of the environment: TabletopVectorEnv, ForeignVectorEnv, or one of the user's own."""
        env = self.make(1)
        env.close()
        return type(env.unwrapped)

    @property
    def tabletop(self) -> bool:
        """Whether it is simulated on the tabletop."""
        return issubclass(self.kind, TabletopVectorEnv)

    @property
    def foreign(self) -> bool:
        """Whether it was registered as an environment of Gymnasium's."""
        return issubclass(self.kind, ForeignVectorEnv)

    def single(self) -> gymnasium.Env[Any, Any] | None:
        """The task as `gymnasium.make` makes it; None where Gymnasium does not know it."""
        if self.foreign:
            envs: Any = self.make(1)
            single: gymnasium.Env[Any, Any] = envs.envs[0].env
            return single
        if not self.spec.gymnasium_id:
            return None
        return gymnasium.make(self.spec.gymnasium_id, disable_env_checker=True)

    def alone(self) -> Envs:
        """One simulation: of the tabletop, the single environment in Gymnasium's own vector environment."""
        if not (self.tabletop and self.spec.gymnasium_id):
            return self.make(1)

        def make() -> gymnasium.Env[Any, Any]:
            return gymnasium.make(self.spec.gymnasium_id, disable_env_checker=True)

        return SyncVectorEnv([make], autoreset_mode=AutoresetMode.SAME_STEP)


def wandering(space: Space[Any], steps: int, rows: int, seed: int = 0) -> Actions:
    """Random actions, each row's held for HELD steps, so that they lead somewhere; `steps` of (rows, ...).

    Args:
        space: of one simulation's actions.
        steps: how many.
        rows: simulations.
        seed: which.
    """
    if isinstance(space, Box) and _is_bounded(space):
        rng = np.random.default_rng(seed)
        held = rng.uniform(space.low, space.high, (-(-steps // HELD), rows, *space.shape)).astype(space.dtype)
        return list(np.repeat(held, HELD, axis=0)[:steps])
    space = copy.deepcopy(space)
    space.seed(seed)
    return [_batched([space.sample() for _ in range(rows)]) for _ in range(steps)]


def extreme(space: Space[Any], steps: int, rows: int, seed: int = 0) -> Actions:
    """Actions at the edge of the space: half of the rows hold a corner, half go from corner to corner.

    A space without bounds, or of other than real numbers, has no corners; its actions are random.
    """
    if not (isinstance(space, Box) and _is_bounded(space)):
        return wandering(space, steps, rows, seed + 1)
    rng, size = np.random.default_rng(seed), int(np.prod(space.shape))
    every = np.array(list(product((0, 1), repeat=size))) if size <= CORNERS else rng.integers(0, 2, (rows, size))
    still = np.resize(every, (rows - rows // 2, size))
    moving = np.repeat(rng.integers(0, 2, (steps // 3 + 1, rows // 2, size)), 3, axis=0)[:steps]
    at = np.concatenate([np.broadcast_to(still, (steps, *still.shape)), moving], axis=1)
    low, high = space.low.ravel(), space.high.ravel()
    return list(np.where(at, high, low).reshape(steps, rows, *space.shape).astype(space.dtype))


def _is_bounded(space: Box) -> bool:
    return space.is_bounded() and space.dtype.kind == "f"


def _batched(actions: list[Any]) -> Any:
    """Samples of a space as a vector environment takes them."""
    first = actions[0]
    if isinstance(first, dict):
        return {key: _batched([action[key] for action in actions]) for key in first}
    if isinstance(first, tuple):
        return tuple(_batched(list(column)) for column in zip(*actions, strict=True))
    return np.stack(actions)

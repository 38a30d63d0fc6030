"""What several tests of the environments need."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from etude.envs.vector import TabletopVectorEnv

MakeVector = Callable[..., TabletopVectorEnv]


@pytest.fixture
def make() -> Iterator[MakeVector]:
    """Makes vector environments, in mode DISABLED unless told otherwise, and closes them."""
    made: list[TabletopVectorEnv] = []

    def make_one(task: str, num_envs: int = 1, **options: Any) -> TabletopVectorEnv:
        made.append(TabletopVectorEnv(task, num_envs, **{"autoreset_mode": AutoresetMode.DISABLED} | options))
        return made[-1]

    yield make_one
    for env in made:
        env.close()


@pytest.fixture
def actions() -> NDArray[np.float32]:
    """(200, 64, 4) actions that wander far: each holds a random direction for a while, with noise."""
    rng = np.random.default_rng(0)
    held = np.repeat(rng.uniform(-1, 1, (20, 64, 4)), 10, axis=0)
    return np.clip(held + rng.normal(0, 0.3, held.shape), -1, 1).astype(np.float32)

"""The single environment: the batched one with one simulation."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from etude.envs.vector import Info, Observations, TabletopVectorEnv


class TabletopEnv(gymnasium.Env[Observations, NDArray[Any]]):
    """One simulation of one task; the same seed gives the same bits as in a batch of any size."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 25}

    def __init__(self, task: str, *, threads: int = 1, render_mode: str | None = None) -> None:
        """Make the simulation.

        Args:
            task: a registered task's id.
            threads: simulator threads.
            render_mode: None or "rgb_array".
        """
        self.vector = TabletopVectorEnv(
            task, 1, autoreset_mode=AutoresetMode.DISABLED, threads=threads, render_mode=render_mode
        )
        self.render_mode = render_mode
        space = self.vector.single_observation_space
        assert isinstance(space, Box)
        self.observation_space = space
        self.action_space = self.vector.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observations, Info]:
        """Start an episode."""
        super().reset(seed=seed)
        self.vector._rngs[0] = self.np_random
        observations, info = self.vector.reset()
        return observations[0], {"success": bool(info["success"][0])}

    def step(self, action: NDArray[Any]) -> tuple[Observations, float, bool, bool, Info]:
        """One control step."""
        observations, rewards, _, truncated, info = self.vector.step(np.asarray(action)[None])
        return observations[0], float(rewards[0]), False, bool(truncated[0]), {"success": bool(info["success"][0])}

    def privileged_state(self) -> dict[str, NDArray[Any]]:
        """What oracles read, each (1, ...)."""
        return self.vector.privileged_state()

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Everything that a bit-exact continuation needs."""
        return self.vector.snapshot()

    def restore(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """Go on from a snapshot."""
        self.vector.restore(snapshot)

    def render(self) -> NDArray[np.uint8] | None:
        """A 640 x 480 picture."""
        frames = self.vector.render()
        return None if frames is None else frames[0]

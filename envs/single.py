"""The single environment: the batched one with one simulation."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from etude.envs.vector import RENDERING, Info, Observations, Snapshot, TabletopVectorEnv


class TabletopEnv(gymnasium.Env[Observations, NDArray[Any]]):
    """One simulation of one task; the same seed gives the same bits as in a batch of any size."""

    metadata: dict[str, Any] = RENDERING

    def __init__(self, task: str, *, render_mode: str | None = None, width: int = 640, height: int = 480) -> None:
        """Make the simulation; `reset` starts its episode.

        Args:
            task: a registered task's id.
            render_mode: None or "rgb_array".
            width: of pictures, pixels.
            height: of pictures, pixels.

        Raises:
            RequestError: an unknown task or render mode, or a number below 1.
        """
        self._vector = TabletopVectorEnv(
            task,
            autoreset_mode=AutoresetMode.DISABLED,
            render_mode=render_mode,
            width=width,
            height=height,
        )
        self.render_mode = render_mode
        self.observation_space = self._vector.single_observation_space
        self.action_space = self._vector.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observations, Info]:
        """Start an episode; without a seed, the generator goes on from where it is."""
        super().reset(seed=seed)
        if self._vector.np_random[0] is not self.np_random:
            self._vector.seed_with(0, self.np_random, self.np_random_seed)
        observations, info = self._vector.reset()
        return observations[0], _only(info)

    def step(self, action: NDArray[Any]) -> tuple[Observations, float, bool, bool, Info]:
        """One control step.

        Args:
            action: (4,), clipped to [-1, 1].

        Raises:
            ResetNeeded: the episode has not begun, or is over.
            RequestError: an action of the wrong shape, or not finite.
            RunError: the simulation diverged.
        """
        observations, rewards, _, truncated, info = self._vector.step(np.asarray(action)[None])
        return observations[0], float(rewards[0]), False, bool(truncated[0]), _only(info)

    def privileged_state(self) -> dict[str, NDArray[Any]]:
        """What oracles read, each (1, ...)."""
        return self._vector.privileged_state()

    def snapshot(self) -> Snapshot:
        """Everything that a bit-exact continuation needs, as plain arrays."""
        return self._vector.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of a single environment of the same task."""
        self._vector.restore(snapshot)
        self._np_random, self._np_random_seed = self._vector.np_random[0], self._vector.np_random_seed[0]

    def render(self) -> NDArray[np.uint8] | None:
        """A picture, (height, width, 3), or None without a render mode."""
        frames = self._vector.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        """Free the renderer."""
        self._vector.close()


def _only(info: Info) -> Info:
    return {key: value[0].item() for key, value in info.items() if not key.startswith("_")}

"""The batched environment: one task in N simulations of the tabletop."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from etude.envs.errors import RunError
from etude.envs.registry import task_class
from etude.envs.tabletop.observation import observation_space, observe
from etude.envs.tabletop.scene import SUBSTEPS, Scene

Observations = NDArray[np.float32]
Info = dict[str, Any]


class TabletopVectorEnv(VectorEnv[Observations, NDArray[Any], NDArray[Any]]):
    """N simulations of one task; an episode is truncated at the task's horizon and never terminated."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 25}

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        render_mode: str | None = None,
    ) -> None:
        """Make the simulations; `reset` starts their episodes.

        Args:
            task: a registered task's id.
            num_envs: N.
            autoreset_mode: when an episode that was truncated is followed by the next.
            threads: simulator threads; results are the same bits at any number.
            render_mode: None or "rgb_array".
        """
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = render_mode
        self.num_envs = num_envs
        self.single_observation_space = observation_space()
        self.single_action_space = Box(-1, 1, (4,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.task = task_class(task)()
        self.scene = Scene(num_envs, threads)
        self._all = np.arange(num_envs)
        self._elapsed = np.zeros(num_envs, np.int64)
        self._over = np.zeros(num_envs, np.bool_)
        self._rngs: list[np.random.Generator | None] = [None] * num_envs
        self._seeds: list[int | None] = [None] * num_envs

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Info]:
        """Start an episode in every simulation, or in those of `options["reset_mask"]`.

        Args:
            seed: one for each simulation; an integer s means s, s + 1, ...; None goes on with the present generators.
            options: `reset_mask`, (N,) bool.
        """
        seeds: Sequence[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} environments")
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_))
        ids = np.flatnonzero(mask)
        for i in ids:
            if seeds[i] is not None or self._rngs[i] is None:
                self._rngs[i], self._seeds[i] = seeding.np_random(seeds[i])
        self._begin(ids)
        return observe(self.scene), self._info(ids)

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Info]:
        """One control step of every simulation; `actions` (N, 4) are clipped to [-1, 1]."""
        scene, task = self.scene, self.task
        scene.control(np.clip(np.asarray(actions, np.float64), -1, 1))
        scene.step()
        self._check()
        task.advance(scene, self._all)
        self._elapsed += 1
        observations = observe(scene)
        rewards = np.array(task.reward(scene), np.float64)
        truncated = self._elapsed >= task.horizon
        info = self._info(self._all)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and truncated.any():
            ids = np.flatnonzero(truncated)
            final_obs = np.full(self.num_envs, None, dtype=object)
            for i in ids:
                final_obs[i] = observations[i].copy()
            final = {"success": np.where(truncated, info["success"], False), "_success": truncated.copy()}
            self._begin(ids)
            observations, info = observe(scene), self._info(self._all)
            info |= {"final_obs": final_obs, "_final_obs": truncated.copy()}
            info |= {"final_info": final, "_final_info": truncated.copy()}
        return observations, rewards, np.zeros(self.num_envs, np.bool_), truncated, info

    def privileged_state(self) -> dict[str, NDArray[Any]]:
        """What oracles read, each (N, ...): the words of the scene, and the steps elapsed."""
        words = (
            "tcp setpoint fingers cube cube_yaw grasped handle drawer_opening drawer_locked button button_depth "
            "lever lever_angle goal pad latch"
        ).split()
        return {word: np.array(getattr(self.scene, word)) for word in words} | {"elapsed": self._elapsed.copy()}

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Everything that a bit-exact continuation needs, as plain arrays."""
        states = [None if rng is None else rng.bit_generator.state for rng in self._rngs]
        return {
            "state": self.scene.batch.state.copy(),
            "sensordata": np.array(self.scene.batch.sensordata),
            "elapsed": self._elapsed.copy(),
            "over": self._over.copy(),
            "generators": np.frombuffer(json.dumps(states).encode(), np.uint8).copy(),
        }

    def restore(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """Go on from a snapshot of an environment of the same task and size."""
        self.scene.batch.state[:] = snapshot["state"]
        self.scene.refresh(self._all)
        self._elapsed[:] = snapshot["elapsed"]
        self._over[:] = snapshot["over"]
        for i, state in enumerate(json.loads(snapshot["generators"].tobytes())):
            self._rngs[i] = None
            if state is not None:
                self._rngs[i] = np.random.Generator(np.random.PCG64())
                self._rngs[i].bit_generator.state = state

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """One 640 x 480 picture of each simulation."""
        if self.render_mode is None:
            return None
        with mujoco.Renderer(self.scene.model, 480, 640) as renderer:
            frames = []
            for i in range(self.num_envs):
                data = self.scene.batch.get_data(i)
                renderer.update_scene(data)
                frames.append(renderer.render())
        return tuple(frames)

    def _begin(self, ids: NDArray[np.intp]) -> None:
        self.scene.home(ids)
        self.task.reset(self.scene, ids, [rng for i in ids if (rng := self._rngs[i]) is not None])
        self.scene.refresh(ids)
        self._elapsed[ids] = 0
        self._over[ids] = False

    def _info(self, ids: NDArray[np.intp]) -> Info:
        mask = np.zeros(self.num_envs, np.bool_)
        mask[ids] = True
        return {"success": np.where(mask, self.task.success(self.scene), False), "_success": mask}

    def _check(self) -> None:
        bad = (self.scene.batch.warning.reshape(self.num_envs, -1) > 0).any(axis=1)
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            raise RunError(
                f"task {self.task.id}: simulation {i} (seed {self._seeds[i]}) diverged at step {self._elapsed[i] + 1}"
            )


__all__ = ["SUBSTEPS", "TabletopVectorEnv"]

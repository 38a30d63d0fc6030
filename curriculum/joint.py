"""The environments of a training: a task's own, or those of several tasks side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from etude.curriculum.evaluator import task_envs
from etude.curriculum.observations import Envs, Step
from etude.curriculum.suite import Suite
from etude.envs import stream_seed

Snapshot = dict[str, NDArray[Any]]


class JointEnvs(VectorEnv[Any, Any, Any]):
    """Several vector environments as one, their rows one after another; each keeps its task and its observations."""

    def __init__(self, parts: Sequence[Envs]) -> None:
        """Join SAME_STEP environments that share their spaces."""
        self.parts = tuple(parts)
        self.num_envs = sum(part.num_envs for part in parts)
        self.single_observation_space = parts[0].single_observation_space
        self.single_action_space = parts[0].single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        ends = np.cumsum([part.num_envs for part in parts])
        self._rows = [slice(end - part.num_envs, end) for part, end in zip(parts, ends.tolist(), strict=True)]

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start an episode in every row.

        Args:
            seed: one a row; an integer s stands for s, s + 1, ...; None goes on with the present generators.
            options: given to each part.
        """
        seeds = range(seed, seed + self.num_envs) if isinstance(seed, int) else seed
        observations = []
        for part, rows in zip(self.parts, self._rows, strict=True):
            own = None if seeds is None else list(seeds[rows])
            observations.append(part.reset(seed=own, options=options)[0])  # type: ignore[arg-type]
        return np.concatenate(observations), {}

    def step(self, actions: NDArray[Any]) -> Step:
        """Step every row; of the infos, what ended episodes left is kept."""
        each = [part.step(actions[rows]) for part, rows in zip(self.parts, self._rows, strict=True)]
        observations, rewards, terminations, truncations = (
            np.concatenate([step[i] for step in each]) for i in range(4)
        )
        ended = terminations | truncations
        return observations, rewards, terminations, truncations, self._infos(ended, [step[4] for step in each])

    def close_extras(self, **kwargs: Any) -> None:
        """Close every part."""
        for part in self.parts:
            part.close()

    @property
    def exact(self) -> bool:
        """Whether all parts can go on from a snapshot with the same bits."""
        return all(hasattr(part.unwrapped, "snapshot") for part in self.parts)

    def snapshot(self) -> Snapshot:
        """Everything that a bit-exact continuation needs, as arrays by `<place of the part>.<name>`."""
        return {
            f"{place}.{name}": value
            for place, part in enumerate(self.parts)
            for name, value in part.unwrapped.snapshot().items()  # type: ignore[attr-defined]
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of the same parts."""
        for place, part in enumerate(self.parts):
            own = f"{place}."
            values = {name.removeprefix(own): value for name, value in snapshot.items() if name.startswith(own)}
            part.unwrapped.restore(values)  # type: ignore[attr-defined]

    def _infos(self, ended: NDArray[np.bool_], each: Sequence[dict[str, Any]]) -> dict[str, Any]:
        if not ended.any():
            return {}
        last, success = np.full(self.num_envs, None, dtype=object), np.zeros(self.num_envs, np.bool_)
        for infos, rows in zip(each, self._rows, strict=True):
            if ended[rows].any():
                last[rows] = infos["final_obs"]
                success[rows] = infos.get("final_info", {}).get("success", False)
        final = {"success": success & ended, "_success": ended.copy()}
        return {"final_obs": last, "_final_obs": ended.copy(), "final_info": final, "_final_info": ended.copy()}


def training_envs(suite: Suite, tasks: Sequence[str]) -> Envs:
    """As many environments as the suite's agent acts in at once: of one task, or split evenly over several."""
    number = suite.agent.environments // len(tasks)
    parts = [task_envs(suite, task, number) for task in tasks]
    return JointEnvs(parts) if len(parts) > 1 else parts[0]


def training_seeds(suite: Suite, tasks: Sequence[str], seed: int) -> list[int]:
    """The seed of every environment of `training_envs`: a task's begin with the same starts in every run of `seed`."""
    number = suite.agent.environments // len(tasks)
    return [stream_seed(seed, "training", task, index) for task in tasks for index in range(number)]

"""What an environment gives over some steps, to be compared bit for bit."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.envs.checks.subject import Actions, Envs

Arrays = dict[str, NDArray[Any]]
Trace = list[Arrays]


def begin(env: Envs, seeds: Sequence[int]) -> Trace:
    """Reset with those seeds, (N,): the observations, and whether each start is solved."""
    observations, info = env.reset(seed=list(seeds))  # type: ignore[arg-type]  # Gymnasium annotates the integer alone
    return [
        {"observation": flat(observations, env.num_envs), "success": successes(info, np.zeros(env.num_envs, np.bool_))}
    ]


def follow(env: Envs, actions: Actions) -> Trace:
    """What the steps of those actions give."""
    trace = []
    for action in actions:
        observations, rewards, terminated, truncated, info = env.step(action)
        trace.append(
            {
                "observation": flat(observations, env.num_envs),
                "reward": np.array(rewards),
                "termination": np.array(terminated),
                "truncation": np.array(truncated),
                "success": successes(info, terminated | truncated),
            }
        )
    return trace


def successes(info: dict[str, Any], ended: NDArray[np.bool_]) -> NDArray[Any]:
    """Whether each row was solved after a step, (N,): where an episode ended in it, as that one ended."""
    success = np.array(info.get("success", np.zeros(len(ended), np.bool_)))
    if ended.any() and "success" in info.get("final_info", {}):
        success[ended] = info["final_info"]["success"][ended]
    return success


def rows(trace: Trace, row: int) -> Trace:
    """The trace of one row."""
    return [{word: values[row : row + 1] for word, values in step.items()} for step in trace]


def difference(one: Trace, other: Trace) -> str | None:
    """Where two traces first differ, in words; None where they are the same bits."""
    for step, (a, b) in enumerate(zip(one, other, strict=True)):
        for word in a:
            if a[word].tobytes() != b[word].tobytes():
                same = a[word].shape == b[word].shape
                row = int(np.argwhere(a[word] != b[word])[0][0]) if same and (a[word] != b[word]).any() else 0
                return f"the {word} differs at step {step} of row {row}"
    return None


def digest(trace: Trace) -> str:
    """SHA-256 of all bits."""
    found = hashlib.sha256()
    for step in trace:
        for word in sorted(step):
            found.update(step[word].tobytes())
    return found.hexdigest()


def flat(observations: Any, count: int) -> NDArray[Any]:
    """Observations of any space as one array, (N, ...), copied.

    Args:
        observations: an array, or a dict or tuple of them.
        count: N.
    """
    if isinstance(observations, dict):
        observations = tuple(observations[key] for key in sorted(observations))
    if isinstance(observations, tuple):
        return np.concatenate([flat(part, count).reshape(count, -1) for part in observations], axis=1)
    return np.array(observations)

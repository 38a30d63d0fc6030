"""How good an oracle is, on starts of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.envs import RequestError, get_task, stream_seed
from etude.oracles.references import play_references
from etude.oracles.rollout import Episodes
from etude.oracles.scores import score

CONFIDENCE = 0.95


def measure_oracle(task_id: str, episodes: int = 500, seed: int = 0) -> dict[str, Any]:
    """Success, return and variation of a task's oracle, and of the failing policies on the same starts.

    Args:
        task_id: the task.
        episodes: E; the starts are those of no run, no evaluation and no other seed.
        seed: which starts.

    Returns:
        `task`, `episodes`, `seed`, and for each of `oracle`, `random`, `zero` and, where the task has its own, `floor`:
        `return` (mean), `success` (fraction of episodes whose last step was one), `variation` (standard deviation over
        mean; None where that is undefined), `return_interval` (Student's t; None for one episode) and
        `success_interval` (Wilson), both 95%.

    Raises:
        RequestError: E is not positive, the seed is negative, or the task has no oracle.
        RunError: the task or its oracle failed, or gave what does not fit.
    """
    task_id = get_task(task_id).id
    for key, value, least in (("episodes", episodes, 1), ("seed", seed, 0)):
        if value < least:
            raise RequestError(f"{key}: {value}; must be at least {least}")
    played = play_references(task_id, [stream_seed(seed, "oracle", task_id, episode) for episode in range(episodes)])
    summaries = {name: summary(result) for name, result in played.items()}
    return {"task": task_id, "episodes": episodes, "seed": seed} | summaries


def margin_fault(measured: Mapping[str, Any]) -> str:
    """Why there would be no score where the oracle is no better than failing; empty where there is one.

    Args:
        measured: what `measure_oracle` returned.
    """
    means = {name: {"returns": [row["return"]]} for name, row in measured.items() if isinstance(row, Mapping)}
    try:
        score((), means | {"fingerprint": {"task": measured["task"]}})
    except RequestError as error:
        return str(error)
    return ""


def summary(episodes: Episodes) -> dict[str, Any]:
    """What `measure_oracle` tells of one policy's episodes."""
    from scipy.stats import binomtest

    successes = int(episodes.successes.sum())
    wilson = binomtest(successes, len(episodes.successes)).proportion_ci(CONFIDENCE, method="wilson")
    return {
        "return": float(episodes.returns.mean()),
        "success": successes / len(episodes.successes),
        "variation": _variation(episodes.returns),
        "return_interval": _mean_interval(episodes.returns),
        "success_interval": [float(wilson.low), float(wilson.high)],
    }


def _variation(returns: NDArray[np.float64]) -> float | None:
    mean = float(returns.mean())
    return None if len(returns) < 2 or mean == 0 else float(returns.std(ddof=1)) / abs(mean)


def _mean_interval(returns: NDArray[np.float64]) -> list[float] | None:
    from scipy.stats import t

    if len(returns) < 2:
        return None
    half = float(t.ppf((1 + CONFIDENCE) / 2, len(returns) - 1)) * float(returns.std(ddof=1)) / len(returns) ** 0.5
    return [float(returns.mean()) - half, float(returns.mean()) + half]

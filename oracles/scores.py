"""The score: a return on the scale where failing is 0 and the oracle is 100."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from etude.envs import RequestError

SMALLEST_MARGIN = 1e-3
FAILING_POLICIES = ("random", "zero", "floor")


def floor(reference: Mapping[str, Any]) -> float:
    """The return of failing: the largest of the failing policies' mean returns.

    Args:
        reference: a task's entry of references.json.
    """
    return max(float(np.mean(reference[name]["returns"])) for name in FAILING_POLICIES if name in reference)


def ceiling(reference: Mapping[str, Any]) -> float:
    """The oracle's mean return."""
    return float(np.mean(reference["oracle"]["returns"]))


def score(returns: ArrayLike, reference: Mapping[str, Any]) -> NDArray[np.float64]:
    """Returns as scores, `100 (G - floor) / (oracle - floor)`, capped neither above nor below.

    Args:
        returns: undiscounted returns of any shape.
        reference: a task's entry of references.json.

    Raises:
        RequestError: the oracle is no better than failing, so that there is nothing to divide by.
    """
    low, high = floor(reference), ceiling(reference)
    if not high - low > SMALLEST_MARGIN * max(abs(low), abs(high)):
        raise RequestError(
            f"task {reference['fingerprint']['task']!r}: no score, since its oracle's mean return, {high:.6g}, "
            f"is not above its floor, {low:.6g}, by enough to divide by"
        )
    return 100 * (np.asarray(returns, np.float64) - low) / (high - low)

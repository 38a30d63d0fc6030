"""A replay buffer as a file of plain arrays: what has been stored so far, and where the next goes."""

from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.buffers import BaseBuffer

from etude.envs.errors import RunError

SETTINGS = {"observation_space", "action_space", "device", "obs_shape"}


def save_buffer(buffer: BaseBuffer, path: Path) -> None:
    """Write the filled part of every array, and every number.

    Raises:
        RunError: the buffer keeps something else, which an array cannot hold.
    """
    # One more than it says: where next observations have no array of their own, the newest is in the next row.
    filled = min(buffer.size() + 1, buffer.buffer_size)
    values: dict[str, Any] = {}
    for name, value in vars(buffer).items():
        if name in SETTINGS:
            continue
        if isinstance(value, np.ndarray) and value.shape[:1] == (buffer.buffer_size,) and value.dtype != object:
            values[name] = value[:filled]
        elif isinstance(value, bool | int | float):
            values[name] = np.array(value)
        else:
            raise RunError(f"{type(buffer).__name__}.{name}: only arrays and numbers of a buffer can be saved")
    np.savez(path, allow_pickle=False, **values)


def load_buffer(buffer: BaseBuffer, path: Path) -> None:
    """Put back what `save_buffer` wrote, into a buffer of the same settings."""
    with np.load(path, allow_pickle=False) as values:
        for name, value in values.items():
            if value.ndim:
                getattr(buffer, name)[: len(value)] = value
            else:
                setattr(buffer, name, value.item())

"""The process-wide random generators, which Stable-Baselines3 draws from, as a value that can be put back."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch


def generators_state() -> dict[str, Any]:
    """The state of Python's, NumPy's and torch's generators, as JSON can hold it."""
    name, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    version, internal, gauss_next = random.getstate()
    return {
        "python": [version, list(internal), gauss_next],
        "numpy": [name, keys.tolist(), position, has_gauss, gauss],  # type: ignore[union-attr]
        "torch": torch.get_rng_state().numpy().tobytes().hex(),
    }


def restore_generators(state: dict[str, Any]) -> None:
    """Put the generators back where `generators_state` found them."""
    version, internal, gauss_next = state["python"]
    random.setstate((version, tuple(internal), gauss_next))
    name, keys, position, has_gauss, gauss = state["numpy"]
    np.random.set_state((name, np.array(keys, np.uint32), position, has_gauss, gauss))
    torch.set_rng_state(torch.frombuffer(bytearray.fromhex(state["torch"]), dtype=torch.uint8))


@contextmanager
def untouched_generators() -> Iterator[None]:
    """Whatever is drawn inside, the generators stand afterwards where they stood before."""
    python, numpy, tensor = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(tensor)

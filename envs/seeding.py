"""One rule for every random stream: a seed from what the stream is for, so that no two streams ever meet."""

import hashlib

import numpy as np


def seed_sequence(*parts: int | str) -> np.random.SeedSequence:
    """The seed sequence of the stream that `parts` name, as (run seed, purpose, task, index).

    Args:
        parts: non-negative integers as they are; names enter as the integer of their SHA-256.

    Raises:
        ValueError: an integer is negative.
    """
    return np.random.SeedSequence([_integer(part) for part in parts])


def stream_seed(*parts: int | str) -> int:
    """The same stream as one integer in [0, 2**63), for interfaces that take an integer seed."""
    return int(seed_sequence(*parts).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _integer(part: int | str) -> int:
    if isinstance(part, str):
        return int.from_bytes(hashlib.sha256(part.encode()).digest())
    if part < 0:
        raise ValueError(f"a seed is a non-negative integer, not {part}")
    return int(part)

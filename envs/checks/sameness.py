"""Whether a task gives the same bits wherever it should, and leaves alone what is not its own."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from io import BytesIO
from typing import Any

import numpy as np

from etude.envs.checks.check import Failed, NotApplicable, check
from etude.envs.checks.subject import Subject, wandering
from etude.envs.checks.trace import Trace, begin, difference, digest, follow, rows

STEPS, ROWS = 50, 5
SEEDS = range(100, 100 + ROWS)


def played(subject: Subject, seeds: Sequence[int] = SEEDS, threads: int = 1) -> Trace:
    """What STEPS steps of a fresh environment give."""
    with closing(subject.make(len(seeds), threads=threads)) as env:
        return begin(env, seeds) + follow(env, wandering(env.single_action_space, STEPS, len(seeds)))


@check("same seed, same steps")
def repeats(subject: Subject) -> str:
    """Two environments, the same seeds and actions."""
    differs = difference(played(subject), played(subject))
    if differs:
        raise Failed(f"played twice, {differs}")
    return f"{STEPS} steps of {ROWS} rows, twice"


@check("same in a fresh process")
def repeats_elsewhere(subject: Subject) -> str:
    """The same as above in a process of its own, in which text has other hash values."""
    program = (
        f"{subject.prelude}\nfrom etude.envs.checks import sameness, subject\n"
        f"print(sameness.digest(sameness.played(subject.Subject({subject.spec.id!r}))))"
    )
    environment = os.environ | {"PYTHONHASHSEED": "random"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    if done.returncode:
        raise Failed(f"it cannot be played there: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")
    if done.stdout.split()[-1] != digest(played(subject)):
        raise Failed("they are others there; what it draws or sorts by may hang on the process")
    return f"{STEPS} steps of {ROWS} rows"


@check("reset forgets")
def resets_wholly(subject: Subject) -> str:
    """An environment that was in use starts and goes on as a fresh one does."""
    with closing(subject.make(ROWS)) as env:
        space = env.single_action_space
        begin(env, range(ROWS))
        follow(env, wandering(space, STEPS, ROWS, seed=1))
        used = begin(env, SEEDS) + follow(env, wandering(space, STEPS, ROWS))
    differs = difference(used, played(subject))
    if differs:
        raise Failed(f"after {STEPS} steps of other episodes, {differs}")
    return f"after {STEPS} steps of other episodes"


@check("global generators untouched")
def leaves_generators_alone(subject: Subject) -> str:
    """Those of python, numpy and torch, once all that is imported late has been imported.

    They stand elsewhere than the first play left them, so that one which seeds them alike each time is seen too.
    """
    played(subject, SEEDS[:2])
    with _moved_generators():
        before = _generators()
        played(subject, SEEDS[:2])
        touched = [name for name, state in _generators().items() if state != before[name]]
    if touched:
        raise Failed(f"it draws from or seeds that of {', '.join(touched)}; draw from the rngs that reset is given")
    return ", ".join(before)


@check("many the same as one")
def batches_exactly(subject: Subject) -> str:
    """Each of the rows, at one thread and at two, against the single environment with its seed."""
    for threads in (1, 2):
        many = played(subject, threads=threads)
        for row, seed in enumerate(SEEDS):
            with closing(subject.alone()) as env:
                actions = wandering(env.single_action_space, STEPS, ROWS)
                one = begin(env, [seed]) + follow(env, [_row(action, row) for action in actions])
            differs = difference(one, rows(many, row))
            if differs:
                raise Failed(
                    f"row {row} of {ROWS} at {threads} thread{'s' * (threads > 1)}: {differs.split(' of ')[0]}"
                )
    return f"{ROWS} rows against each alone, at 1 and 2 threads"


@check("snapshot and restore")
def restores(subject: Subject) -> str:
    """Another environment, in the midst of others, goes on as the first: to the next episode and on."""
    with closing(subject.make(ROWS)) as first, closing(subject.make(ROWS)) as second:
        one: Any = first.unwrapped
        other: Any = second.unwrapped
        if not hasattr(one, "snapshot"):
            raise NotApplicable("has no snapshot(): a stopped run goes on from its last save, in new episodes")
        space = first.single_action_space
        begin(first, SEEDS), begin(second, range(ROWS))
        follow(first, wandering(space, 10, ROWS)), follow(second, wandering(space, 7, ROWS, seed=1))
        file = BytesIO()
        np.savez(file, allow_pickle=False, **one.snapshot())
        file.seek(0)
        with np.load(file, allow_pickle=False) as stored:
            other.restore(dict(stored))
        actions = wandering(space, subject.spec.horizon + 10, ROWS, seed=2)
        differs = difference(follow(first, actions), follow(second, actions))
    if differs:
        raise Failed(f"gone on from step 10, {differs}; what changes must live in the scene")
    return f"{subject.spec.horizon + 10} steps on from step 10"


@contextmanager
def _moved_generators() -> Iterator[None]:
    """The global generators a draw further on; where they were, once the block is over."""
    python, array, torch = random.getstate(), np.random.get_state(), sys.modules.get("torch")
    tensor = None if torch is None else torch.get_rng_state()
    random.random(), np.random.random()
    if torch is not None:
        torch.rand(1)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(array)
        if torch is not None:
            torch.set_rng_state(tensor)


def _generators() -> dict[str, Any]:
    states: dict[str, Any] = {"python": random.getstate(), "numpy": repr(np.random.get_state())}
    torch = sys.modules.get("torch")
    return states if torch is None else states | {"torch": torch.get_rng_state().numpy().tobytes()}


def _row(actions: Any, row: int) -> Any:
    if isinstance(actions, dict):
        return {key: _row(part, row) for key, part in actions.items()}
    if isinstance(actions, tuple):
        return tuple(_row(part, row) for part in actions)
    return actions[row : row + 1]

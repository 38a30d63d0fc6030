"""Whether a task leaves the simulated model as it is, and how fast it is."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any

import numpy as np

from etude.envs.checks.check import Failed, NotApplicable, check
from etude.envs.checks.subject import Subject, wandering
from etude.envs.checks.trace import begin, follow

SIDE_BY_SIDE = 64
SECONDS, PATIENCE = 0.5, 5  # of measuring, of the processor's time at least and by the clock at most
SLOWEST = 200  # steps a second of it: a training of 100,000 steps would wait 8 minutes for the task alone


@check("model unchanged")
def keeps_the_model(subject: Subject) -> str:
    """The bytes of MuJoCo's model, which all simulations of a batch share, before and after episodes."""
    if not subject.tabletop:
        raise NotApplicable("not of the tabletop, whose simulations share a model")
    with closing(subject.make(8)) as env:
        model = env.unwrapped.scene.model  # type: ignore[attr-defined]
        before = _bytes(model)
        for seed in range(2):
            begin(env, range(8 * seed, 8 * seed + 8))
            follow(env, wandering(env.single_action_space, subject.spec.horizon, 8, seed))
        after = _bytes(model)
    if before != after:
        raise Failed("its bytes are others; what changes must live in the simulations' state")
    return f"{len(before):,} bytes, after two episodes of 8 rows"


@check("fast enough to train on")
def is_fast(subject: Subject) -> tuple[str, dict[str, float]]:
    """Steps a second of 64 simulations at one thread, by the quickest step, in the processor's time.

    By the clock, a task would fail where the machine has other work to do.
    """
    with closing(subject.make(SIDE_BY_SIDE)) as env:
        actions = wandering(env.single_action_space, 20, SIDE_BY_SIDE)
        begin(env, range(SIDE_BY_SIDE))
        taken: list[float] = []
        latest = time.monotonic() + PATIENCE
        while len(taken) < len(actions) or sum(taken) < SECONDS:
            started = time.process_time()
            env.step(actions[len(taken) % len(actions)])
            taken.append(time.process_time() - started)
            if time.monotonic() > latest:
                break
    rate = SIDE_BY_SIDE / min(taken)
    told = f"{rate:,.0f} steps a second of the processor's, {SIDE_BY_SIDE} at once"
    measured = {"steps_per_second": rate}
    if rate < SLOWEST:
        raise Failed(f"{told}; {SLOWEST} are the least", measured)
    return told, measured


def _bytes(model: Any) -> bytes:
    import mujoco

    buffer = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()

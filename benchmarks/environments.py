"""What the batched environment costs beside the bare simulation, measured side by side in one run.

    python benchmarks/environments.py [--task ID] [--simulations N ...] [--threads T] [--seconds S] [--json]

Both sides step the same model, with the same substeps and threads, through the same states: the environment plays an
episode and its controls are kept; the bare side is `Batch.step(nstep, stage=VEL)` from the same starts under the same
controls. They take turns, and the median turn of each counts, so that what else the machine does weighs on both.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.envs import task_ids
from etude.envs.tabletop.scene import CONTROL_RATE, SUBSTEPS
from etude.envs.vector import TabletopVectorEnv


def measure(task: str, simulations: int, threads: int, seconds: float) -> dict[str, Any]:
    """Rates of the environment and of the bare simulation, in control steps of one simulation a second."""
    env = TabletopVectorEnv(task, simulations, autoreset_mode="SameStep", threads=threads)
    horizon, scene = env.task.horizon, env.scene
    rng = np.random.default_rng(0)
    held = np.repeat(rng.uniform(-1, 1, (-(-horizon // 10), simulations, 4)), 10, axis=0)[:horizon]
    actions = np.clip(held + rng.normal(0, 0.3, held.shape), -1, 1).astype(np.float32)
    controls: list[NDArray[np.float64]] = []
    env.reset(seed=0)
    for action in actions:
        scene.control(action.astype(np.float64))
        controls.append(scene.batch.ctrl.copy())
        scene.step()

    def play() -> None:
        for action in actions:
            env.step(action)  # the last one goes on to the next episode

    def simulate() -> None:
        for control in controls:
            scene.batch.ctrl[:] = control
            scene.batch.step(nstep=SUBSTEPS, stage=scene.velocity_stage)

    turns: list[tuple[float, float]] = []
    finish = time.perf_counter() + seconds
    while len(turns) < 5 or time.perf_counter() < finish:
        turns.append((_timed(env, play), _timed(env, simulate)))
    rates = [statistics.median(simulations * horizon / turn[side] for turn in turns) for side in (0, 1)]
    return {
        "task": task,
        "simulations": simulations,
        "threads": threads,
        "turns": len(turns),
        "environment": rates[0],
        "bare": rates[1],
        "ratio": statistics.median(bare / environment for environment, bare in turns),
        "simulated_seconds": rates[0] / CONTROL_RATE,
    }


def _timed(env: TabletopVectorEnv, side: Callable[[], None]) -> float:
    env.reset(seed=0)
    start = time.perf_counter()
    side()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", action="append", choices=task_ids(), help="default: all")
    parser.add_argument("--simulations", type=int, nargs="+", default=[32, 64])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=6, help="for each row")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [
        measure(task, simulations, options.threads, options.seconds)
        for task in options.task or task_ids()
        for simulations in options.simulations
    ]
    if options.json:
        print(json.dumps({"cores": os.cpu_count(), "substeps": SUBSTEPS, "control_rate": CONTROL_RATE, "rows": rows}))
        return
    print("control steps of one simulation a second; ratio: of the bare rate")
    print(f"{'task':<16}{'simulations':>12}{'threads':>9}{'environment':>13}{'bare':>9}{'ratio':>7}")
    for row in rows:
        rates = f"{row['environment']:>13,.0f}{row['bare']:>9,.0f}{row['ratio']:>7.2f}"
        print(f"{row['task']:<16}{row['simulations']:>12}{row['threads']:>9}{rates}")


if __name__ == "__main__":
    main()

"""What the batched environment costs beside the bare simulation, measured side by side in one run.

    python benchmarks/environments.py [--task ID ...] [--simulations N ...] [--threads T] [--seconds S] [--json FILE]
                                      [--peers FOLDER]

Both sides step the same model, with the same substeps and threads, through the same states, from start to end of an
episode: in half of the simulations the oracle acts, in the others random actions held for ten steps, with noise. The
episode is played once to keep starts, actions, controls and locks; then the environment takes the actions, and the bare
side, `Batch.step(nstep, stage=VEL)`, the controls from the same starts. That it ends in the same state, bit for bit, is
checked. The environment's share includes its starts: its last step goes on to the next episode.

They take turns of ten control steps, timed in CPU seconds of all threads; a ratio is of whole episodes, and the median
episode counts, so that what else the machine does weighs on both, and little. With --peers, two other projects'
pick-and-place are measured after it, in virtual environments that are made in FOLDER (`peers.py`).
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import peers
from numpy.typing import NDArray

from etude.envs import task_ids
from etude.envs.tabletop.scene import CONTROL_RATE, SUBSTEPS, Scene
from etude.envs.vector import TabletopVectorEnv
from etude.oracles import get_oracle

TURN = 10
EPISODES = 5


class Episode:
    """One episode of all simulations, as it can be played again: by the environment, or by the bare simulation."""

    def __init__(self, env: TabletopVectorEnv) -> None:
        """Play it once, up to its last step but without going on to the next episode."""
        scene, task, everyone = env.scene, env.task, np.arange(env.num_envs)
        oracle = get_oracle(task.id)(env.num_envs)
        oracle.reset(everyone)
        env.reset(seed=0)
        self.start = scene.batch.state.copy()
        self.actions: list[NDArray[np.float64]] = []
        self.controls: list[NDArray[np.float64]] = []
        self.locks: list[NDArray[np.float64]] = []
        wild = _random_actions(task.horizon, env.num_envs)
        for k in range(task.horizon):
            skilled = oracle.act(env.privileged_state())
            self.actions.append(np.where((everyone % 2 == 0)[:, None], skilled, wild[k]).astype(np.float32))
            scene.control(self.actions[-1].astype(np.float64))
            self.controls.append(scene.batch.ctrl.copy())
            self.locks.append(scene.drawer_locked.copy())
            scene.step()
            task.advance(scene, everyone)
        self.end = scene.batch.qpos.copy()

    def play(self, env: TabletopVectorEnv) -> Iterator[float]:
        """Let the environment play it: CPU seconds of each turn."""
        env.reset(seed=0)
        for turn in _turns(self.actions):
            begun = time.process_time()
            for action in turn:
                env.step(action)
            yield time.process_time() - begun

    def simulate(self, scene: Scene) -> Iterator[float]:
        """Let the bare simulation go through it: CPU seconds of each turn."""
        batch, stage = scene.batch, scene.velocity_stage
        ctrl = batch.bind("ctrl")
        batch.state[:] = self.start
        scene.refresh()
        changed = [not np.array_equal(*pair) for pair in zip(self.locks, [self.locks[0], *self.locks], strict=False)]
        for turn in _turns(list(zip(self.controls, self.locks, changed, strict=True))):
            begun = time.process_time()
            for control, lock, unlocked in turn:
                ctrl[:] = control
                if unlocked:
                    scene.drawer_locked[:] = lock
                batch.step(nstep=SUBSTEPS, stage=stage)
            yield time.process_time() - begun
        if not np.array_equal(batch.qpos, self.end):
            raise SystemExit("the bare simulation did not go through the environment's states")


def measure(task: str, simulations: int, threads: int, seconds: float) -> dict[str, Any]:
    """Rates of the environment and of the bare simulation, in control steps of one simulation a CPU second."""
    env = TabletopVectorEnv(task, simulations, autoreset_mode="SameStep", threads=threads)
    bare = Scene(simulations, threads, env.task.cubes)
    episode = Episode(env)
    costs: list[tuple[float, float]] = []
    finish = time.process_time() + seconds
    while len(costs) < EPISODES or time.process_time() < finish:
        turns = np.array(list(zip(episode.play(env), episode.simulate(bare), strict=True)))
        costs.append((float(turns[:, 0].sum()), float(turns[:, 1].sum())))
    steps = simulations * env.task.horizon
    rate = steps / statistics.median(cost for cost, _ in costs)
    return {
        "task": task,
        "simulations": simulations,
        "threads": threads,
        "episodes": len(costs),
        "environment": rate,
        "bare": steps / statistics.median(cost for _, cost in costs),
        "ratio": statistics.median(bare / environment for environment, bare in costs),
        "simulated_seconds": rate / CONTROL_RATE,
    }


def _turns(steps: list[Any]) -> Iterator[list[Any]]:
    return (steps[k : k + TURN] for k in range(0, len(steps), TURN))


def _random_actions(steps: int, simulations: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(0)
    held = np.repeat(rng.uniform(-1, 1, (-(-steps // 10), simulations, 4)), 10, axis=0)[:steps]
    return np.clip(held + rng.normal(0, 0.3, held.shape), -1, 1)


def _print_beside(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> None:
    """Print our rows and the peers', and how many times as many simulated seconds the last of ours makes."""
    print(f"\n{'a CPU second':<42}{'simulations':>12}{'steps':>9}{'simulated s':>13}{'ours':>8}")
    for row in [{"peer": f"Étude {row['task']}", **row} for row in rows] + others:
        if "reason" in row:
            print(f"{row['peer']:<42}{row['reason']}")
            continue
        seconds = row["simulated_seconds"]
        times = f"{rows[-1]['simulated_seconds'] / seconds:>7.1f}x" if row in others else ""
        print(f"{row['peer']:<42}{row['simulations']:>12}{row['environment']:>9,.0f}{seconds:>13.1f}{times}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", action="append", choices=task_ids(), help="default: all")
    parser.add_argument("--simulations", type=int, nargs="+", default=[64])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=6, help="CPU seconds for each row, both sides together")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--peers", type=Path, metavar="FOLDER", help="measure two peers, installed in that folder")
    options = parser.parse_args()
    print("control steps of one simulation a CPU second; ratio: of the bare rate")
    print(f"{'task':<16}{'simulations':>12}{'threads':>9}{'environment':>13}{'bare':>9}{'ratio':>7}")
    rows = []
    for task in options.task or task_ids():
        for simulations in options.simulations:
            row = measure(task, simulations, options.threads, options.seconds)
            rates = f"{row['environment']:>13,.0f}{row['bare']:>9,.0f}{row['ratio']:>7.2f}"
            print(f"{row['task']:<16}{row['simulations']:>12}{row['threads']:>9}{rates}", flush=True)
            rows.append(row)
    others = [peers.measure(peer, options.peers, options.seconds) for peer in peers.PEERS] if options.peers else []
    if others:
        _print_beside(rows, others)
    if options.json:
        report = {
            "cores": os.cpu_count(),
            "substeps": SUBSTEPS,
            "control_rate": CONTROL_RATE,
            "rows": rows,
            "peers": others,
        }
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()

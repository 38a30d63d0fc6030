"""Speed of two peers' pick-and-place, each in a virtual environment of its own, since their pins may clash.

`measure` makes the virtual environment under a folder, once, and times random actions there in CPU seconds of all
threads, as `environments.py` does. A peer that cannot be installed or run is a row with the reason.

EnvPool reads its model's meshes again for each environment: 8 of them are made, since 64 take minutes to make, and none
of that is timed.
"""

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

_TIMED = """
import json, time
import numpy as np
{make}
rng, steps, begun = np.random.default_rng(0), 0, None
while begun is None or time.process_time() - begun < {seconds}:
    begun = begun or time.process_time()
    play(rng)
    steps += count
rate = steps / (time.process_time() - begun)
print(json.dumps({{"simulations": count, "environment": rate, "simulated_seconds": rate * control_step}}))
"""

_FETCH = """
import gymnasium, gymnasium_robotics
gymnasium.register_envs(gymnasium_robotics)
env = gymnasium.make("FetchPickAndPlace-v4")
env.reset(seed=0)
control_step, count = env.unwrapped.dt, 1
def play(rng):
    _, _, terminated, truncated, _ = env.step(rng.uniform(-1, 1, 4).astype(np.float32))
    if terminated or truncated:
        env.reset()
"""

_METAWORLD = """
import envpool
count = 8
env = envpool.make("MetaWorld/PickPlace-v3", env_type="gymnasium", num_envs=count, num_threads=1, seed=0)
env.reset()
control_step = 0.0025 * env.config["frame_skip"]  # the time step that its model file states
def play(rng):
    env.step(rng.uniform(-1, 1, (count, 4)).astype(env.action_space.dtype))
"""

PEERS = {
    "Gymnasium-Robotics FetchPickAndPlace-v4": ("gymnasium-robotics", ["gymnasium-robotics", "mujoco<3.4"], _FETCH),
    "EnvPool MetaWorld/PickPlace-v3": ("envpool", ["envpool"], _METAWORLD),
}


def measure(peer: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Simulations, and control steps and simulated seconds of a peer per CPU second, or why there are none.

    Args:
        peer: one of PEERS.
        folder: where its virtual environment is, or will be.
        seconds: CPU seconds to measure for.
    """
    name, packages, make = PEERS[peer]
    home = folder / name
    python, done = home / "bin" / "python", home / "installed"
    if not done.exists():
        venv.create(home, with_pip=True, clear=True)
        reason = _run([str(python), "-m", "pip", "install", "--quiet", *packages])[1]
        if reason:
            return {"peer": peer, "reason": f"not installed: {reason}"}
        done.touch()
    output, reason = _run([str(python), "-c", _TIMED.format(make=make, seconds=seconds)])
    return {"peer": peer, "reason": reason} if reason else {"peer": peer, **json.loads(output.splitlines()[-1])}


def _run(command: list[str]) -> tuple[str, str]:
    """The command's output, and the last line of its complaint if it failed."""
    print(f"running {Path(command[0]).parent.parent.name}", file=sys.stderr)
    done = subprocess.run(command, capture_output=True, text=True)
    failed = done.returncode != 0
    return done.stdout, (done.stderr.strip().splitlines() or ["it failed without a word"])[-1] if failed else ""

"""What our agent saves on Stable-Baselines3 as it comes: seconds of PPO's rollout and update, side by side.

python benchmarks/learning.py [task]
"""

import sys
import time
from collections.abc import Callable

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger

from etude.curriculum.agents.sb3 import SB3Agent
from etude.curriculum.agents.vecenv import SB3Envs
from etude.curriculum.suite import load_suite
from etude.envs import make_vector

ROUNDS = 10


def plain(task: str, parameters: dict[str, object], environments: int, steps: int) -> Callable[[], object]:
    """Stable-Baselines3's own loop, its distributions validated and its Adam not fused, as is its default."""
    envs = make_vector(task, environments)
    envs.reset(seed=0)
    model = PPO("MlpPolicy", SB3Envs(envs), device="cpu", seed=0, **parameters)  # type: ignore[arg-type]
    model.set_logger(Logger(folder=None, output_formats=[]))

    def learn() -> None:
        torch.distributions.Distribution.set_default_validate_args(True)
        model.learn(steps, reset_num_timesteps=False)

    return learn


def ours(task: str, parameters: dict[str, object], environments: int, steps: int) -> Callable[[], object]:
    """The agent that runs use."""
    envs = make_vector(task, environments)
    envs.reset(seed=0)
    spaces = envs.single_observation_space, envs.single_action_space
    agent = SB3Agent("PPO", *spaces, environments, parameters, seed=0)
    agent.begin_task(task, envs, budget=1_000 * steps)

    def learn() -> None:
        torch.distributions.Distribution.set_default_validate_args(False)
        agent.learn(steps)

    return learn


def main() -> None:
    torch.set_num_threads(1)
    task = sys.argv[1] if len(sys.argv) > 1 else "open-drawer"
    config = load_suite("quick").agent
    steps = config.environments * config.parameters["n_steps"]
    ways = [make(task, config.parameters, config.environments, steps) for make in (plain, ours)]
    seconds = [0.0, 0.0]
    for way in ways:
        way()
    for _ in range(ROUNDS):
        for i, way in enumerate(ways):
            started = time.perf_counter()
            way()
            seconds[i] += time.perf_counter() - started
    for name, spent in zip(("Stable-Baselines3", "etude"), seconds, strict=True):
        milliseconds, speed = 1e3 * spent / ROUNDS, ROUNDS * steps / spent
        print(f"{name:18} {milliseconds:6.0f} ms a rollout of {steps:,} steps, {speed:6,.0f} steps/s")
    print(f"ratio {seconds[1] / seconds[0]:.2f}")


if __name__ == "__main__":
    main()

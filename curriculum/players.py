"""Who can be watched: a task's oracle, the failing policies, and the policies that a run has stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from etude.curriculum.agents.protocol import act_finitely, make_agent
from etude.curriculum.evaluator import task_envs
from etude.curriculum.imports import import_all
from etude.curriculum.observations import Envs
from etude.curriculum.study import RunFolder
from etude.curriculum.suite import Suite, read_suite
from etude.envs import RequestError, RunError, get_task, make_vector
from etude.envs.errors import nearest
from etude.oracles.policies import Policy, oracle_policy, random_policy, zero_policy

SCRIPTED = ("oracle", "random", "zero")


@dataclass(frozen=True)
class Player:
    """Who plays a task.

    Attributes:
        name: in words.
        make: an environment of one simulation as the player sees it; takes `make_vector`'s keywords.
        begin: the policy of an episode; takes the environment, the episode's number, and its seed.
        run: the run that it comes from, and that run's suite; None of a scripted one.
    """

    name: str
    make: Callable[..., Envs]
    begin: Callable[[Envs, int, int], Policy]
    run: tuple[RunFolder, Suite] | None = None


def find_player(task: str, policy: str) -> Player:
    """The player of a task by its name.

    Args:
        task: its id; with a run's policy, a task of that run's study.
        policy: `oracle`, `random`, `zero`, a run's folder, for its newest policy, or one of the run's `policies/`.

    Raises:
        RequestError: there is no such task or policy, or the run's study has no such task.
        RunError: a stored policy cannot be read.
    """
    if policy not in SCRIPTED:
        return _stored(task, _policy_folder(policy))
    begin: dict[str, Callable[[Envs, int, int], Policy]] = {
        "oracle": lambda envs, episode, seed: oracle_policy(task, envs),
        "random": lambda envs, episode, seed: random_policy(task, envs, [seed]),
        "zero": lambda envs, episode, seed: zero_policy(envs),
    }
    get_task(task)
    return Player(policy, lambda **options: make_vector(task, 1, **options), begin[policy])


def _stored(task: str, folder: Path) -> Player:
    """A run's policy, which acts to the bit as it was evaluated: as one row of as many."""
    import torch

    torch.set_num_threads(1)
    run = RunFolder(folder.parent.parent)
    suite = read_suite(run.study.path)
    import_all(suite.imports)
    if task not in suite.tasks:
        raise RequestError(
            f"task {task!r}: not one of {run.study.path}; {nearest(task, suite.tasks, len(suite.tasks))}"
        )
    spaces = task_envs(suite, task, 1)
    agent = make_agent(suite.agent, spaces.single_observation_space, spaces.single_action_space, seed=0)
    spaces.close()
    try:
        agent.load_policy(folder)
    except Exception as error:
        raise RunError(f"{folder}: cannot be read ({type(error).__name__}: {error})") from error
    rows = suite.evaluation.episodes

    def begin(envs: Envs, episode: int, seed: int) -> Policy:
        row = episode % rows

        def act(observations: NDArray[np.generic]) -> NDArray[np.generic]:
            return act_finitely(agent, np.repeat(observations, rows, axis=0))[row : row + 1]

        return act

    name = f"{run.path.name} at step {int(folder.name):,}"
    return Player(name, lambda **options: task_envs(suite, task, 1, **options), begin, (run, suite))


def _policy_folder(policy: str) -> Path:
    """The folder of the policy that is meant.

    Raises:
        RequestError: there is none; what would be right.
    """
    path = Path(policy).absolute()
    if path.parent.name == "policies":
        run, step = RunFolder(path.parent.parent), path.name
    else:
        run, step = RunFolder(path), None
    if path.suffix in (".zip", ".pkl", ".pth") and path.is_file():
        raise RequestError(f"policy {policy!r}: is pickled, as Stable-Baselines3 saves: it would run code; not loaded")
    if not run.path.is_dir():
        raise RequestError(f"policy {policy!r}: no run's folder, nor one of {', '.join(SCRIPTED)}")
    if (run.path / "suite.yaml").is_file():
        raise RequestError(f"policy {policy!r}: a study; take one of its runs, such as {policy}/runs/sequential-seed0")
    if run.path.parent.name != "runs":
        raise RequestError(f"policy {policy!r}: not a run's folder, such as studies/quick/runs/sequential-seed0")
    steps = sorted(int(path.name) for path in run.policy(0).parent.glob("*") if path.name.isdigit())
    if step is None and steps:
        return run.policy(steps[-1])
    if step not in [str(stored) for stored in steps]:
        stored = ", ".join(map(str, steps)) or "none yet"
        raise RequestError(f"policy {policy!r}: there is no such policy; the run has stored {stored}")
    return path

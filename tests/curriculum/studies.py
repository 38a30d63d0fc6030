"""Studies written to disk without training: real files in the real layout, whose curves are given."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from etude.curriculum.plan import RunName, groups, plan_run
from etude.curriculum.records import Evaluation, append_evaluations
from etude.curriculum.status import State, Status, write_status
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite
from etude.envs.seeding import stream_seed

TASKS = ("reach", "press-button", "open-drawer", "unlock-drawer")
ORACLE, RANDOM, ZERO = 50.0, 4.0, 5.0

Score = Callable[[str, int, str, int], float]
"""The score that group of runs, seed, task and step have in the study to be written."""


def make_suite(
    tasks: Sequence[str] = TASKS,
    budget: int | dict[str, int] = 40,
    *,
    every: int = 10,
    also: Sequence[int] = (),
    episodes: int = 4,
    seeds: Sequence[int] = (0, 1, 2),
    regimes: Sequence[str] = ("sequential", "scratch"),
    orders: int = 1,
    name: str = "synthetic",
) -> Suite:
    return Suite.model_validate(
        {
            "name": name,
            "tasks": list(tasks),
            "budget": budget,
            "seeds": list(seeds),
            "regimes": list(regimes),
            "orders": orders,
            "evaluation": {"every": every, "episodes": episodes, "also": list(also)},
            "agent": {"algorithm": "PPO", "environments": 2, "parameters": {"n_steps": 5}},
        }
    )


def write_study(study: Path, suite: Suite, score: Score, *, spread: float = 3.0, state: State = "done") -> Path:
    """Write suite.yaml, references.json and every run's evaluations.jsonl and status.json.

    Episodes' returns spread around the wanted score by `spread` in units of return, the oracle's by a tenth of it;
    their mean is exact but for rounding. An episode's last step succeeds in the share of episodes that the score
    is of 100.
    """
    study.mkdir(parents=True)
    (study / "suite.yaml").write_text(suite.to_yaml())
    (study / "references.json").write_text(json.dumps(_references(suite, spread)))
    for group in groups(suite):
        for seed in suite.seeds:
            write_run(study, suite, group, seed, score, spread=spread, state=state)
    return study


def write_run(
    study: Path,
    suite: Suite,
    regime: str,
    seed: int,
    score: Score,
    *,
    spread: float = 3.0,
    state: State = "done",
    reason: str | None = None,
    until: int | None = None,
) -> None:
    """Write one run; with `until`, only its checkpoints up to that step."""
    run = StudyFolder(study).run(RunName(regime, seed))
    run.path.mkdir(parents=True)
    checkpoints = plan_run(suite, regime).checkpoints
    write_status(run.status, Status(state=state, step=until or 0, of=checkpoints[-1].step, reason=reason))
    reached = [checkpoint for checkpoint in checkpoints if until is None or checkpoint.step <= until]
    append_evaluations(
        run.evaluations,
        (
            _evaluation(suite, regime, seed, task, checkpoint.step, score, spread)
            for checkpoint in reached
            for task in checkpoint.tasks
        ),
    )


def _evaluation(suite: Suite, regime: str, seed: int, task: str, step: int, score: Score, spread: float) -> Evaluation:
    episodes = suite.evaluation.episodes
    wanted = score(regime, seed, task, step)
    returns = ZERO + wanted / 100 * (ORACLE - ZERO) + spread * _centred(episodes, task, regime, seed, step)
    rate = min(1.0, max(0.0, wanted / 100))
    return Evaluation(
        step=step,
        task=task,
        returns=tuple(returns.tolist()),
        successes=tuple(episode < round(rate * episodes) for episode in range(episodes)),
        lengths=(60,) * episodes,
    )


def _references(suite: Suite, spread: float) -> dict[str, object]:
    def policy(task: str, name: str, mean: float) -> dict[str, object]:
        episodes = suite.evaluation.episodes
        returns = mean + 0.1 * spread * _centred(episodes, task, name)
        return {"returns": returns.tolist(), "successes": [name == "oracle"] * episodes, "lengths": [60] * episodes}

    means = {"oracle": ORACLE, "random": RANDOM, "zero": ZERO}
    return {
        task: {"fingerprint": {"task": task}, **{name: policy(task, name, mean) for name, mean in means.items()}}
        for task in suite.tasks
    }


def _centred(count: int, *stream: int | str) -> np.ndarray:
    values = np.random.default_rng(stream_seed(*stream)).normal(size=count)
    return values - values.mean()


def realistic(suite: Suite, keep: float = 0.4, practice: float = 25.0) -> Score:
    """Curves as training makes them: each task is learnt, then partly forgotten while later ones train.

    Args:
        suite: whose tasks and budgets they follow.
        keep: the share of a score that is kept in the long run.
        practice: what practice adds to the composition's score half way through.
    """
    segments = {group: plan_run(suite, group).segments for group in groups(suite)}

    def score(regime: str, seed: int, task: str, step: int) -> float:
        generator = np.random.default_rng(stream_seed("realistic", regime, seed, task, step))
        character = np.random.default_rng(stream_seed("realistic", seed, task))
        top, midpoint = character.uniform(82, 97), character.uniform(0.3, 0.5)
        noise = generator.normal(scale=2.5)
        segment = next((segment for segment in segments[regime] if task in segment.tasks), None)
        if segment is None or step < segment.start:
            return float(noise + 3)
        progress = (step - segment.start) / segment.budget
        practised = practice / 100 if regime.startswith("sequential") and task == suite.composition else 0.0
        learnt = top / (1 + np.exp(-12 * (min(progress, 1.0) - midpoint + practised)))
        if progress <= 1:
            return float(learnt + noise)
        lasting = character.uniform(0.7, 1.3) * keep
        return float(learnt * (lasting + (1 - lasting) * np.exp(-2.5 * (progress - 1))) + noise)

    return score

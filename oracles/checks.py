"""The checks of a task that need its oracle: whether that solves it, and whether failing does not."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import VectorEnv, VectorWrapper
from numpy.typing import NDArray

from etude.envs import stream_seed
from etude.envs.checks import Check, Failed, NotApplicable, Subject, check
from etude.envs.checks.trace import successes
from etude.oracles.blame import told_of
from etude.oracles.measure import summary
from etude.oracles.policies import Policy, oracle_policy, random_policy, scripted_policy, zero_policy
from etude.oracles.registry import get_floor, get_oracle
from etude.oracles.rollout import Episodes, rollout
from etude.oracles.scores import FAILING_POLICIES, ceiling, floor, score

SUCCESS, VARIATION = 0.99, 0.05  # what an oracle reaches
FAILING = 0.05  # in how many episodes chance may solve a task
MARGIN, TABLETOP_MARGIN = 0.1, 0.5  # of the larger of oracle and floor


@dataclass
class Played:
    """What the policies of a task came to on the same starts.

    Attributes:
        episodes: of oracle, random, zero and, where the task has its own, floor.
        solved: the least reward of a step after which the task was solved.
        unsolved: the largest of a step after which it was not.
        illegal: the first action of the oracle that the action space lacks, in words; None if all are in it.
        error: what broke it off.
    """

    episodes: dict[str, Episodes] = field(default_factory=dict)
    solved: float = np.inf
    unsolved: float = -np.inf
    illegal: str | None = None
    error: BaseException | None = None


class _Noting(VectorWrapper[Any, Any, Any, Any, Any]):
    """Notes what solved and unsolved steps pay."""

    def __init__(self, env: VectorEnv[Any, Any, Any], played: Played) -> None:
        super().__init__(env)
        self._played = played

    def step(self, actions: Any) -> Any:
        """Step, and note."""
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        success = successes(info, terminated | truncated).astype(np.bool_)
        self._played.solved = min(self._played.solved, float(np.min(rewards[success], initial=np.inf)))
        self._played.unsolved = max(self._played.unsolved, float(np.max(rewards[~success], initial=-np.inf)))
        return observations, rewards, terminated, truncated, info


def _watched(act: Policy, env: VectorEnv[Any, Any, Any], played: Played) -> Policy:
    """The oracle's actions, the first that is not legal noted."""
    space = env.single_action_space

    def watching(observations: NDArray[Any]) -> NDArray[Any]:
        actions = act(observations)
        if played.illegal is None:
            for row, action in enumerate(actions):
                legal = (
                    np.all((action >= space.low) & (action <= space.high))
                    if isinstance(space, Box)
                    else action in space
                )
                if not legal:
                    played.illegal = f"{action} in row {row}, not in {space}"
                    break
        return actions

    return watching


def played(subject: Subject) -> Played:
    """The policies' episodes, those that `etude oracle` measures with the same number; played once a subject."""
    if subject.played is None:
        subject.played = found = Played()
        task = subject.spec.id
        seeds = [stream_seed(0, "oracle", task, episode) for episode in range(subject.episodes)]
        own = get_floor(task)
        try:
            with told_of(), closing(_Noting(subject.make(len(seeds)), found)) as env:
                found.episodes["oracle"] = rollout(env, _watched(oracle_policy(task, env), env, found), seeds)
                found.episodes["random"] = rollout(env, random_policy(task, env, seeds), seeds)
                found.episodes["zero"] = rollout(env, zero_policy(env), seeds)
                if own is not None:
                    found.episodes["floor"] = rollout(env, scripted_policy(own, env), seeds)
        except (Exception, SystemExit) as error:
            found.error = error
    seen: Played = subject.played
    return seen


def _whole(subject: Subject) -> Played:
    found = played(subject)
    if found.error is not None:
        raise NotApplicable("needs an oracle that plays")
    return found


@check("oracle solves it steadily")
def is_solved_by_its_oracle(subject: Subject) -> tuple[str, dict[str, float]]:
    """Success at the last step, and the returns' standard deviation over their mean.

    That says how steady an oracle is where returns begin at 0 and all starts are about as hard, as on the tabletop.
    """
    get_oracle(subject.spec.id)
    found = played(subject)
    if found.error is not None:
        raise found.error
    seen = summary(found.episodes["oracle"])
    variation = seen["variation"] or 0.0
    told = f"success {seen['success']:.1%}, variation {variation:.1%} over {subject.episodes} episodes"
    measured = {"return": seen["return"], "success": seen["success"], "variation": variation}
    if seen["success"] < SUCCESS:
        failing = np.flatnonzero(~found.episodes["oracle"].successes)[:3] + 1
        which = f"episode {', '.join(map(str, failing))} of etude watch {subject.spec.id} --seed 0 did not first"
        raise Failed(f"{told}; at least {SUCCESS:.0%} should succeed; {which}", measured)
    if variation <= VARIATION:
        return told, measured
    if subject.tabletop:
        raise Failed(f"{told}; at most {VARIATION:.0%} should vary", measured)
    return f"{told}, which off the tabletop may be that of the starts", measured


@check("oracle acts legally")
def acts_legally(subject: Subject) -> str:
    """All of them in the action space."""
    found = _whole(subject)
    if found.illegal:
        raise Failed(f"it gave {found.illegal}")
    return f"all of {subject.episodes} episodes"


@check("margin over the floor")
def has_a_margin(subject: Subject) -> tuple[str, dict[str, float]]:
    """What scores are divided by: on the tabletop at least half of what the oracle earns, elsewhere a tenth."""
    found = _whole(subject)
    reference: dict[str, Any] = {"fingerprint": {"task": subject.spec.id}}
    reference |= {name: episodes.record() for name, episodes in found.episodes.items()}
    low, high = floor(reference), ceiling(reference)
    score(0.0, reference)
    share, least = (high - low) / max(abs(low), abs(high)), TABLETOP_MARGIN if subject.tabletop else MARGIN
    told, measured = f"oracle {high:.2f}, floor {low:.2f}", {"oracle": high, "floor": low}
    if share < least:
        raise Failed(f"{told}: apart by {share:.0%} of the larger, {least:.0%} are the least", measured)
    return told, measured


@check("chance does not solve it")
def is_not_solved_by_chance(subject: Subject) -> tuple[str, dict[str, float]]:
    """Neither random nor zero actions, nor the task's own floor."""
    found = _whole(subject)
    rates = {name: float(found.episodes[name].successes.mean()) for name in FAILING_POLICIES if name in found.episodes}
    told = "success of " + ", of ".join(f"{name} {rate:.1%}" for name, rate in rates.items())
    if max(rates.values()) > FAILING:
        raise Failed(f"{told}; at most {FAILING:.0%}", rates)
    return told, rates


@check("solved pays most")
def pays_for_success(subject: Subject) -> str:
    """Every solved step of any policy more than every unsolved one."""
    found = _whole(subject)
    if not subject.tabletop:
        raise NotApplicable("not of the tabletop; its rewards are its own")
    if found.solved == np.inf:
        raise Failed("the oracle never solved it")
    told = f"at least {found.solved:.6g} solved, at most {found.unsolved:.6g} unsolved"
    if not found.solved > found.unsolved:
        raise Failed(told)
    return told


ORACLE_CHECKS: tuple[Check, ...] = (
    is_solved_by_its_oracle,
    acts_legally,
    has_a_margin,
    is_not_solved_by_chance,
    pays_for_success,
)

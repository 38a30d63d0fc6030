"""Whether a task's episodes start, run and end as they must, whatever is done in them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from etude.envs.checks.check import Failed, NotApplicable, check
from etude.envs.checks.subject import Envs, Subject, extreme, wandering
from etude.envs.checks.trace import begin, flat
from etude.envs.tabletop.observation import Observer

WILD = 32  # rows of random actions, and as many at the edge of the action space
STARTS = 64
TOLD = {"success", "final_obs", "final_info"}  # what info may hold


@dataclass
class Wild:
    """What came of an episode of random and extreme actions in each row.

    Attributes:
        ends: for each row, the step at which its first episode ended, and whether it was truncated and terminated.
        rewards: the least and the largest.
        outside: where an observation was not in its space; None if nowhere.
        untold: what is wrong with `info["success"]`; None if nothing.
        told: what else info holds.
        leaked: where an observation is not what the scene's slots read; None if nowhere.
        warned: what the simulator warned of.
        error: what broke it off, which all who look at it are told.
    """

    ends: dict[int, tuple[int, bool, bool]] = field(default_factory=dict)
    rewards: tuple[float, float] = (np.inf, -np.inf)
    outside: str | None = None
    untold: str | None = None
    told: set[str] = field(default_factory=set)
    leaked: str | None = None
    warned: str = ""
    error: BaseException | None = None


def wild(subject: Subject) -> Wild:
    """Play as wildly as can be, once a subject."""
    if subject.wild is None:
        subject.wild = found = Wild()
        # A reset clears an environment's warnings: where each has its own, it comes a step later, to have them seen.
        mode = AutoresetMode.NEXT_STEP if subject.foreign else AutoresetMode.SAME_STEP
        with closing(subject.make(2 * WILD, mode=mode)) as env:
            try:
                _play(subject, env, found)
            except (Exception, SystemExit) as error:
                found.error = error
            found.warned = found.warned or _warnings(env)
    seen: Wild = subject.wild
    return seen


def _play(subject: Subject, env: Envs, found: Wild) -> None:
    observe = Observer(env.unwrapped.scene) if subject.tabletop else None  # type: ignore[attr-defined]
    horizon, space, all_rows = subject.spec.horizon, env.single_action_space, range(2 * WILD)
    both = zip(wandering(space, horizon, WILD), extreme(space, horizon, WILD), strict=True)
    observations, info = env.reset(seed=list(all_rows))  # type: ignore[arg-type]
    _look(found, env, 0, observations, info)
    for step, (wander, edge) in enumerate(both, start=1):
        observations, rewards, terminated, truncated, info = env.step(_joined(wander, edge))
        low, high = found.rewards  # NaN stays NaN in numpy's minimum, and not in Python's
        found.rewards = float(np.minimum(low, rewards.min())), float(np.maximum(high, rewards.max()))
        for row in np.flatnonzero(terminated | truncated).tolist():
            found.ends.setdefault(row, (step, bool(truncated[row]), bool(terminated[row])))
        _look(found, env, step, observations, info)
        if subject.foreign:
            found.warned = found.warned or _warnings(env)
        if observe is not None and not np.array_equal(observe(), observations):
            found.leaked = found.leaked or f"at step {step}"


def _look(found: Wild, env: Envs, step: int, observations: Any, info: dict[str, Any]) -> None:
    ended = info.get("_final_obs", np.zeros(env.num_envs, np.bool_))
    finals = [info["final_obs"][row] for row in np.flatnonzero(ended)]
    if found.outside is None and not env.observation_space.contains(observations):
        found.outside = f"at step {step}"
    if found.outside is None and not all(map(env.single_observation_space.contains, finals)):
        found.outside = f"at step {step}, the last of an episode"
    # What is not a Box has no infinities to hold.
    values = flat(observations, env.num_envs)
    if found.outside is None and values.dtype.kind == "f" and not np.isfinite(values).all():
        found.outside = f"at step {step}, not finite"
    tellers = {"info": info} | ({"final_info": info["final_info"]} if "final_info" in info else {})
    for name, teller in tellers.items():
        found.told |= {word for word in teller if word.removeprefix("_") not in TOLD}
        success: Any = teller.get("success")
        if success is None:
            problem = f"{name} has no success"
        elif not isinstance(success, np.ndarray) or success.dtype != np.bool_ or success.shape != (env.num_envs,):
            kind = getattr(success, "dtype", type(success).__name__)
            problem = f"{name}['success'] is {kind}, not a bool for each row"
        elif step == 0 and success.any():
            problem = "a start is solved"
        else:
            continue
        found.untold = found.untold or f"{problem}, at step {step}"


def _warnings(env: Envs) -> str:
    """What MuJoCo has warned of, on the tabletop or in an environment of Gymnasium's that it simulates."""
    scene = getattr(env.unwrapped, "scene", None)
    if scene is not None:
        return "; ".join(dict.fromkeys(filter(None, map(scene.warnings, range(env.num_envs)))))
    import mujoco

    simulated = [getattr(one.unwrapped, "data", None) for one in getattr(env.unwrapped, "envs", ())]
    counts = [data.warning.number for data in simulated if isinstance(data, mujoco.MjData)]
    kinds = np.flatnonzero(np.any(counts, axis=0)) if counts else ()
    names = [mujoco.mjtWarning(int(kind)).name.removeprefix("mjWARN_") for kind in kinds]
    return f"MuJoCo warns of {', '.join(names)}" if names else ""


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, dict):
        return {key: _joined(one[key], other[key]) for key in one}
    if isinstance(one, tuple):
        return tuple(_joined(a, b) for a, b in zip(one, other, strict=True))
    return np.concatenate([one, other])


def _whole(subject: Subject) -> Wild:
    found = wild(subject)
    if found.error is not None:
        raise found.error
    return found


@check("ends at its horizon")
def ends_at_the_horizon(subject: Subject) -> str:
    """Truncated there, and never terminated."""
    found, horizon = _whole(subject), subject.spec.horizon
    terminated = {row: step for row, (step, _, over) in found.ends.items() if over}
    if terminated and not subject.tabletop:
        step = min(terminated.values())
        raise NotApplicable(
            f"not of the tabletop, and may end early: {len(terminated)} of {2 * WILD}, from step {step}"
        )
    if terminated:
        raise Failed(f"row {min(terminated)} is terminated at step {terminated[min(terminated)]}")
    early = {row: step for row, (step, *_) in found.ends.items() if step != horizon}
    if early:
        raise Failed(f"row {min(early)} is truncated at step {early[min(early)]} of {horizon}")
    if len(found.ends) < 2 * WILD:
        raise Failed(f"{2 * WILD - len(found.ends)} of {2 * WILD} rows go on after step {horizon}")
    return f"truncated at step {horizon}, never terminated"


@check("observations sound")
def observes_soundly(subject: Subject) -> str:
    """Under random and extreme actions."""
    found = _whole(subject)
    if found.outside:
        raise Failed(f"one is not, {found.outside}")
    return f"{2 * WILD} episodes of random and extreme actions"


@check("simulator quiet")
def simulates_quietly(subject: Subject) -> str:
    """MuJoCo's warnings: of what diverged, of contacts that found no room."""
    found = wild(subject)
    if found.warned:
        raise Failed(found.warned)
    if found.error is not None:
        raise NotApplicable("the episodes broke off")
    return f"{2 * WILD} episodes of random and extreme actions"


@check("rewards in 0 to 1")
def pays_within_bounds(subject: Subject) -> str:
    """On the tabletop; elsewhere any finite ones will do."""
    low, high = _whole(subject).rewards
    if not (np.isfinite(low) and np.isfinite(high)):
        raise Failed(f"they are from {low} to {high}")
    if not subject.tabletop:
        raise NotApplicable(f"not of the tabletop; they are finite, {low:.3g} to {high:.3g}")
    if low < 0 or high > 1:
        raise Failed(f"they are from {low:.6g} to {high:.6g}")
    return f"{low:.3g} to {high:.3g} in {2 * WILD} episodes"


@check("success told")
def tells_success(subject: Subject) -> str:
    """`info["success"]`: a bool at every step, and False at every start."""
    found = _whole(subject)
    if found.untold:
        raise Failed(found.untold)
    with closing(subject.make(STARTS)) as env:
        solved = int(begin(env, range(1000, 1000 + STARTS))[0]["success"].sum())
    if solved:
        raise Failed(f"{solved} of {STARTS} starts are solved")
    return f"a bool at every step; {STARTS} starts unsolved"


@check("nothing privileged told")
def keeps_privileges(subject: Subject) -> str:
    """Info holds success alone; a tabletop observation is what its slots read, and nothing else.

    What oracles read is there for any number of simulations, each word (N, ...).
    """
    found = _whole(subject)
    if found.told:
        raise Failed(f"info holds {', '.join(sorted(found.told))}")
    if found.leaked:
        raise Failed(f"an observation is not what the scene's slots read, {found.leaked}")
    for count in (1, 3):
        with closing(subject.make(count)) as env:
            begin(env, range(count))
            state = env.unwrapped.privileged_state()  # type: ignore[attr-defined]
        for word, value in state.items():
            if np.shape(value)[:1] != (count,):
                raise Failed(f"the privileged {word!r} of {count} is of shape {np.shape(value)}, not ({count}, ...)")
    return "info holds success alone" + ("; observations are the slots" if subject.tabletop else "")


@check("starts differ")
def starts_apart(subject: Subject) -> str:
    """From seed to seed, and from one episode to the next."""
    with closing(subject.make(STARTS)) as env:
        seen = begin(env, range(STARTS))[0]["observation"].reshape(STARTS, -1)
        following = flat(env.reset()[0], STARTS).reshape(STARTS, -1)
    alike = STARTS - len(np.unique(seen, axis=0))
    if alike:
        raise Failed(f"{alike} of {STARTS} seeds start as another does")
    if (seen == following).all(axis=1).any():
        raise Failed("the next episode starts as the one before")
    return f"{STARTS} seeds, and the episodes after"

"""Whether a task can be played, and is an environment as Gymnasium and the suite want it."""

from __future__ import annotations

import re
import warnings
from contextlib import closing
from textwrap import shorten

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Box
from gymnasium.utils.env_checker import check_env
from gymnasium.vector.utils import batch_space

from etude.envs.checks.check import Failed, NotApplicable, check
from etude.envs.checks.episodes import wild
from etude.envs.checks.subject import Spaces, Subject, wandering
from etude.envs.checks.trace import begin, flat, follow
from etude.envs.tabletop.observation import observation_space

TABLETOP = Spaces("the tabletop", observation_space(), Box(-1, 1, (4,), np.float32))
_NO_ID = "Gymnasium has no id for it, only Étude"


@check("can be played")
def plays(subject: Subject) -> str:
    """From a start to the horizon, one row and many, with random actions and with extreme ones, without an error."""
    with closing(subject.make(1)) as env:
        begin(env, [0])
        follow(env, wandering(env.single_action_space, subject.spec.horizon, 1))
    if (error := wild(subject).error) is not None:
        raise error
    return f"{subject.spec.horizon} steps of random and extreme actions"


@check("Gymnasium's own checker")
def passes_gymnasiums_checker(subject: Subject) -> str:
    """`gymnasium.utils.env_checker.check_env` of the single environment; on the tabletop, without a warning."""
    env = subject.single()
    if env is None:
        raise NotApplicable(_NO_ID)
    with warnings.catch_warnings(record=True) as caught, closing(env):
        warnings.simplefilter("always")
        check_env(env.unwrapped, skip_render_check=True)
    said = [re.sub(r"\x1b\[\d+m|WARN: ", "", str(warning.message)) for warning in caught]
    if said and subject.tabletop:
        raise Failed(f"it warns: {said[0]}")
    return f"no error; it warns: {shorten(said[0], 50, placeholder='...')}" if said else "no error, no warning"


@check("spaces")
def has_the_spaces(subject: Subject) -> str:
    """Those of the tabletop for a tabletop task; else those of the suite that is named."""
    wanted = TABLETOP if subject.tabletop else subject.spaces
    with closing(subject.make(2)) as env:
        for what in ("observation", "action"):
            one, many = getattr(env, f"single_{what}_space"), getattr(env, f"{what}_space")
            if many != batch_space(one, 2):
                raise Failed(f"the {what} space of two is {many}, not two of {one}")
            if wanted is not None and one != getattr(wanted, what):
                raise Failed(f"its {what}s are {one}, those of {wanted.of} {getattr(wanted, what)}")
    if wanted is None:
        raise NotApplicable("not of the tabletop, and no suite is named to compare with (--suite)")
    return f"as {wanted.of} has them"


@check("spec to JSON and back")
def spec_survives_json(subject: Subject) -> str:
    """What is made from the JSON of its Gymnasium spec starts with the same observation."""
    env = subject.single()
    if env is None:
        raise NotApplicable(_NO_ID)
    assert env.spec is not None
    with closing(env), closing(gymnasium.make(EnvSpec.from_json(env.spec.to_json()))) as again:
        if not np.array_equal(flat(env.reset(seed=0)[0], 1), flat(again.reset(seed=0)[0], 1)):
            raise Failed("what comes back starts otherwise from the same seed")
    return env.spec.id

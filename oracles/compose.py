"""A composition of registered primitives in one call: its task and its oracle."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from etude.envs import RequestError, TaskSpec, register_task
from etude.envs.registry import check_task, task_class
from etude.envs.tabletop.composition import Composition, furnishing
from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.scene import Scene
from etude.envs.tabletop.starts import TABLE_WORDS, with_more
from etude.oracles.registry import register_oracle
from etude.oracles.tabletop.composition import CompositionOracle

Prepare = Callable[[Scene, NDArray[np.intp], Sequence[np.random.Generator]], None]


def compose(
    id: str,
    parts: Sequence[str],
    *,
    horizon: int | None = None,
    prepare: Prepare | None = None,
    version: int = 0,
    description: str = "",
) -> TaskSpec:
    """Register a composition: its parts as stages, a staged reward, and the parts' oracles one after another.

    Args:
        id: the composition's.
        parts: ids of tabletop primitives, in the order they are needed; one may come again.
        horizon: control steps of an episode; as many as the parts' together if not given.
        prepare: changes the common starts of the simulations `ids`, (M,), into this task's, each drawing from its own
            generator: `prepare(scene, ids, rngs)`. The first line of its docstring says how, for users.
        version: raised whenever returns of before and after no longer compare.
        description: one line; names the parts if not given.

    Returns:
        What the project knows of it.

    Raises:
        RequestError: the id is taken or no id; a part is unknown, a composition, or no primitive of the tabletop; or
            there is none; or `prepare` is no function.
    """
    if isinstance(parts, str) or not parts:
        raise RequestError(f"task {id!r}: parts {parts!r}, must be a list of primitives' ids")
    if prepare is not None and not callable(prepare):
        raise RequestError(f"task {id!r}: prepare {prepare!r:.60}, must be a function of scene, ids and rngs")
    check_task(id, tuple(parts))
    stages = tuple(_primitive(id, part)() for part in parts)
    own = {"__module__": sys._getframe(1).f_globals.get("__name__", __name__)}  # whose file makes it what it is
    name = "".join(word.capitalize() for word in id.split("-"))
    attributes: dict[str, Any] = own | {
        "id": id,
        "__doc__": description or f"{', then '.join(parts)}.",
        "version": version,
        "stages": stages,
        "horizon": sum(stage.horizon for stage in stages) if horizon is None else horizon,
        "starts": reduce(with_more, [stage.furnish for stage in furnishing(stages)], TABLE_WORDS),
        "shows_goal": any(stage.shows_goal for stage in stages),
    }
    if prepare is not None:
        attributes |= {"prepare": staticmethod(prepare), "starts": with_more(attributes["starts"], prepare)}
    spec = register_task(type(name, (Composition,), attributes))
    register_oracle(type(f"{name}Oracle", (CompositionOracle,), own | {"task": id}))
    return spec


def _primitive(task_id: str, part: str) -> type[Primitive]:
    try:
        found = task_class(part)
    except RequestError as error:
        raise RequestError(f"task {task_id!r}: its part {error}") from None
    if not issubclass(found, Primitive):
        raise RequestError(f"task {task_id!r}: its part {part!r} is no Primitive, with progress and mark of its own")
    return found

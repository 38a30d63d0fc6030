"""What a run costs, as `cost.json` in its folder says it: memory, sizes, and floating-point operations."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from gymnasium.spaces import Box, Space
from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from etude.curriculum.agents.protocol import Agent
from etude.curriculum.saves import write_text

if TYPE_CHECKING:
    from etude.curriculum.methods.method import Method

COUNTED = 64
"""Environment steps at the least whose operations are counted at a task's end, in whole rollouts."""


Count = Annotated[int, Field(ge=0, le=10**24)]


@with_config(ConfigDict(strict=True))
class Counted(TypedDict, total=False):
    """Operations that were counted in a block, over so many steps learnt; `warm_up` steps of a run learn nothing."""

    operations: Count
    steps: Annotated[int, Field(ge=1, le=10**15)]
    warm_up: Count


@with_config(ConfigDict(strict=True))
class Facts(TypedDict, total=False):
    """What cost.json says of a run; None of what its agent does not show."""

    peak_mem: Count
    flops: dict[str, dict[str, Counted]]
    flops_an_action: Count | None
    trainable_params: Count | None
    model_bytes: Count
    buffer_bytes: Count | None
    state_bytes: Count


_STORED = TypeAdapter(Facts)


def read_cost(path: Path) -> Facts:
    """What a run's cost.json says; nothing where there is none.

    Raises:
        OSError, ValueError: it cannot be read, or is not what a run writes.
    """
    return _STORED.validate_json(path.read_bytes()) if path.exists() else {}


class RunCost:
    """The facts of a run's cost, gathered while it runs; nothing here is read by the training or the evaluation."""

    def __init__(self, path: Path) -> None:
        """Go on from what the file says, if it can be read: a resumed run keeps what was measured before."""
        self._path = path
        self._facts: dict[str, Any] = {"peak_mem": 0, "flops": {}, "flops_an_action": None}
        with suppress(OSError, ValueError):
            self._facts |= read_cost(path)
        _forget_peak()

    @contextmanager
    def counting(self, task: str, what: str, steps: int, **more: int) -> Iterator[None]:
        """Count the operations that torch is asked for in the block.

        Counting costs several times the block's own time, and changes no bit of what it computes.

        Args:
            task: which is being learnt.
            what: `learning` or `method`.
            steps: environment steps that the block learns.
            more: noted beside them.
        """
        from torch.utils.flop_counter import FlopCounterMode

        with FlopCounterMode(display=False) as counter:
            yield
        found = {"operations": int(counter.get_total_flops()), "steps": steps, **more}
        self._facts["flops"].setdefault(task, {})[what] = found

    def note(self, agent: Agent, method: Method, observations: Space[Any], policy: Path) -> None:
        """Write down what agent and method take now.

        Args:
            agent: its `buffer_bytes` and `optimisers` are asked where it has them.
            method: its `buffer_bytes` is asked.
            observations: those of one simulation.
            policy: the folder of a policy that was just stored.
        """
        self._facts |= {
            "trainable_params": _trainable(agent),
            "model_bytes": _size(policy),
            "buffer_bytes": agent.buffer_bytes() + method.buffer_bytes() if hasattr(agent, "buffer_bytes") else None,
            "peak_mem": max(self._facts["peak_mem"], _peak()),
        }
        if self._facts["flops_an_action"] is None:
            self._facts["flops_an_action"] = _action(agent, observations)
        self._write()

    def note_save(self, save: Path, method: Method) -> None:
        """Write down what the method keeps between tasks, the samples it rehearses aside.

        Args:
            save: the folder of the state that was just stored.
            method: whose state is in it.
        """
        self._facts["state_bytes"] = max(0, _size(save / "method") - method.buffer_bytes())
        self._write()

    def _write(self) -> None:
        write_text(self._path, json.dumps(self._facts) + "\n")


def _trainable(agent: Agent) -> int | None:
    """How many numbers the agent's optimisers move; None of an agent that shows no optimisers."""
    if not hasattr(agent, "optimisers"):
        return None
    groups = (group for optimiser in agent.optimisers().values() for group in optimiser.param_groups)
    parameters = {id(p): p for group in groups for p in group["params"] if p.requires_grad}
    return sum(int(p.numel()) for p in parameters.values())


def _action(agent: Agent, observations: Space[Any]) -> int | None:
    """The operations of one action for one observation."""
    from torch.utils.flop_counter import FlopCounterMode

    from etude.curriculum.agents.generators import untouched_generators

    if not isinstance(observations, Box):
        return None
    one = np.clip(np.zeros(observations.shape), observations.low, observations.high).astype(observations.dtype)
    with untouched_generators(), FlopCounterMode(display=False) as counter:
        agent.act(one[None])
    return int(counter.get_total_flops())


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _forget_peak() -> None:
    """Have the process's peak counted from now on, where the system can: a worker executes several runs."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """The most memory that the process held, in bytes."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

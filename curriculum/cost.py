"""What a run costs, as `cost.json` in its folder says it: memory, sizes, and floating-point operations."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Space

from etude.curriculum.agents.protocol import Agent
from etude.curriculum.methods.method import Method
from etude.curriculum.saves import write_text

COUNTED = 64
"""Environment steps at the least whose operations are counted at a task's end, in whole rollouts."""


class RunCost:
    """The facts of a run's cost, gathered while it runs; nothing here is read by the training or the evaluation."""

    def __init__(self, path: Path) -> None:
        """Go on from what the file says; a run that is resumed keeps what was measured before."""
        self._path = path
        self._facts: dict[str, Any] = {"peak_mem": 0, "flops": {}, "flops_an_action": None}
        with suppress(OSError, ValueError, TypeError):
            self._facts |= dict(json.loads(path.read_bytes()))
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
    return sum(p.numel() for p in parameters.values())


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

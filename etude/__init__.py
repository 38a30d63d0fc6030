"""Étude: practice pieces for robot learning, and what they do for the composition.

Importing it makes the tasks known to Gymnasium: `gymnasium.make("etude/Reach-v0")`.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from etude.envs import Task, get_task, make_vector, register_task, task_ids

__version__ = "0.1.0"

__all__ = ["Task", "get_task", "make_vector", "register_task", "task_ids"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'etude' has no attribute {name!r}")
    import etude.envs

    return getattr(etude.envs, name)


# The command line imports the tasks where it needs them, so that its help need not wait for the simulator.
if Path(sys.argv[0]).name != "etude":
    import etude.envs  # noqa: F401

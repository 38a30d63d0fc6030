"""Étude: practice pieces for robot learning, and what they do for the composition.

The public names are looked up when they are used, so that the command line starts at once. `import etude.envs` makes
the tasks known to Gymnasium.
"""

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

"""Étude: practice pieces for robot learning, and what they do for the composition."""

import etude.envs.tabletop  # noqa: F401  (registers the tasks)
from etude.envs import Task, get_task, make_vector, register_task, task_ids

__version__ = "0.1.0"

__all__ = ["Task", "get_task", "make_vector", "register_task", "task_ids"]

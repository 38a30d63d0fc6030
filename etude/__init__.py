"""Étude: practice pieces for robot learning, and what they do for the composition.

Importing it makes the tasks known to Gymnasium: `gymnasium.make("etude/Reach-v0")`.
"""

from etude.envs import Task, TaskSpec, get_task, make_vector, register_environment, register_task, task_ids
from etude.oracles import Oracle, compose, register_floor, register_oracle

__version__ = "0.1.0"

__all__ = [
    "Oracle",
    "Task",
    "TaskSpec",
    "compose",
    "get_task",
    "make_vector",
    "register_environment",
    "register_floor",
    "register_oracle",
    "register_task",
    "task_ids",
]

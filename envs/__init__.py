"""Tasks, and the batched and single environments that play them."""

import etude.envs.tabletop  # noqa: F401  (registers its tasks)
from etude.envs.errors import RequestError, RunError
from etude.envs.registry import TaskSpec, get_task, make_vector, register_task, task_ids
from etude.envs.seeding import seed_sequence, stream_seed
from etude.envs.task import Task

__all__ = [
    "RequestError",
    "RunError",
    "Task",
    "TaskSpec",
    "get_task",
    "make_vector",
    "register_task",
    "seed_sequence",
    "stream_seed",
    "task_ids",
]

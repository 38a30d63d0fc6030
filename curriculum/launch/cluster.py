"""What a study asks of a cluster, and how one is chosen by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from etude.curriculum.launch.pool import Answer, Order
from etude.curriculum.launch.profile import Profile, SlurmProfile


class Cluster(Protocol):
    """Where runs are executed, other than in worker processes of this machine."""

    @property
    def name(self) -> str:
        """As `--on` has it."""

    def give(self, orders: Iterable[Order], idle: Callable[[], None] = ...) -> Iterator[Answer]:
        """Execute runs, and yield an answer as each ends; call `idle` about twice a second."""

    def left_behind(self, study: Path) -> list[str]:
        """Lines to say where the command is stopped and its runs are not; none where they stop with it."""


def make_cluster(profile: Profile, at_once: int | None) -> Cluster:
    """The cluster that a profile is for.

    Args:
        profile: what each run is given.
        at_once: runs side by side at the most; as many as there is room for if not given.

    Raises:
        RequestError: what it takes is not installed, or there is no such cluster here.
    """
    if isinstance(profile, SlurmProfile):
        from etude.curriculum.launch.slurm import Slurm

        return Slurm(profile, at_once)
    from etude.curriculum.launch.ray import Ray

    return Ray(profile, at_once)

"""Runs as Ray tasks, one each: where a machine is lost, its runs go on from their saves on another."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from etude.curriculum.launch.pool import THREADS, Answer, Order
from etude.curriculum.launch.profile import RayProfile
from etude.envs.errors import RequestError


class Ray:
    """A Ray cluster whose machines share this one's files; its runs end with this process."""

    name = "ray"

    def __init__(self, profile: RayProfile, at_once: int | None) -> None:
        """Use the cluster at the profile's address; it is first spoken to when runs are given.

        Args:
            profile: what each run is given.
            at_once: runs side by side at the most; as many as there is room for if not given.

        Raises:
            RequestError: Ray is not installed.
        """
        self.profile, self.at_once = profile, at_once
        try:
            import ray  # noqa: F401
        except ModuleNotFoundError:
            raise RequestError("--on ray needs Ray; pip install 'etude[ray]'") from None

    def give(self, orders: Iterable[Order], idle: Callable[[], None] = lambda: None) -> Iterator[Answer]:
        """Execute a run a task, and yield an answer as each ends.

        Raises:
            RequestError: there is no cluster at the address.
        """
        import ray

        waiting = list(orders)
        task = self._connect()
        busy: dict[Any, Order] = {}
        try:
            while waiting or busy:
                while waiting and (self.at_once is None or len(busy) < self.at_once):
                    order = waiting.pop(0)
                    busy[task.remote(str(Path(order["run"]).absolute()))] = order
                idle()
                done, _ = ray.wait(list(busy), timeout=0.5)
                for reference in done:
                    yield _answer(reference, busy.pop(reference))
            idle()
        finally:
            for reference in busy:
                ray.cancel(reference, force=True)
            ray.shutdown()

    def left_behind(self, study: Path) -> list[str]:
        """Nothing: Ray ends the tasks of a process that is gone."""
        return []

    def _connect(self) -> Any:
        """The remote function that executes a run."""
        import ray

        heeded = signal.getsignal(signal.SIGTERM)
        try:
            host, _, port = self.profile.address.rpartition(":")
            if port.isdecimal() and "://" not in host:  # Ray itself tries for minutes.
                socket.create_connection((host, int(port)), timeout=10).close()
            ray.init(self.profile.address, log_to_driver=False, logging_level=logging.ERROR)
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, heeded)  # Ray sets its own, which says nothing of what was stopped.
        except (OSError, ValueError, RuntimeError) as error:
            told = " ".join(str(error).split())
            raise RequestError(f"ray profile: address: {self.profile.address}: no Ray cluster there ({told})") from None
        given: dict[str, Any] = {"num_cpus": self.profile.cpus, "num_gpus": self.profile.gpus}
        if self.profile.memory_gb is not None:
            given["memory"] = round(self.profile.memory_gb * 2**30)
        retries = self.profile.retries
        return ray.remote(**given, resources=self.profile.resources, max_retries=retries, max_calls=1)(execute_run)


def execute_run(run_folder: str) -> str | None:
    """Bring a run on in this process, until it is done; what went wrong, in words."""
    os.environ.update(dict.fromkeys(THREADS, "1"))  # Before torch is imported, which reads them once.
    from etude.curriculum.holding import BEAT, STALE
    from etude.curriculum.launch.worker import execute_logged, in_a_line

    try:
        execute_logged(Path(run_folder), patience=STALE + 2 * BEAT)
    except Exception as error:
        return in_a_line(error)
    return None


def _answer(reference: Any, order: Order) -> Answer:
    import ray

    try:
        return Answer(order, error=ray.get(reference))
    except ray.exceptions.RayError as error:
        return Answer(order, error=f"Ray: {' '.join(str(error).split()):.300}", died=True)

"""Worker processes as the parent sees them."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from etude.envs.errors import RequestError, RunError

Order = dict[str, Any]
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Answer:
    """What came of an order.

    Attributes:
        order: as it was given.
        done: its result.
        error: why there is none.
        died: whether the worker's process ended over it.
        wrong: whether it is the request that was wrong.
        traceback: of the error, where the worker told it.
    """

    order: Order
    done: Any = None
    error: str | None = None
    died: bool = False
    wrong: bool = False
    traceback: str = ""


class Pool:
    """So many workers; as a context manager, it leaves none behind."""

    def __init__(self, workers: int) -> None:
        """A pool of so many, none of them started."""
        self._size = workers
        self._events: queue.SimpleQueue[tuple[_Worker, str]] = queue.SimpleQueue()
        self._workers: list[_Worker] = []

    def __enter__(self) -> Pool:
        """Start the workers, all or none; they import what they need meanwhile."""
        try:
            while len(self._workers) < self._size:
                self._workers.append(_Worker(self._events))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        """End all workers, whatever they are doing."""
        for worker in self._workers:
            worker.kill()

    def give(self, orders: Iterable[Order], idle: Callable[[], None] = lambda: None) -> Iterator[Answer]:
        """Give out orders in their order, each to the next free worker, and yield the answers as they come.

        A worker that dies answers with an error, and another takes its place.

        Args:
            orders: of any number.
            idle: called about twice a second, and after every answer.
        """
        waiting = list(orders)
        busy: dict[_Worker, Order] = {}
        while waiting or busy:
            for worker in self._workers:
                if waiting and worker not in busy:
                    busy[worker] = waiting.pop(0)
                    worker.send(busy[worker])
            idle()
            try:
                worker, line = self._events.get(timeout=0.5)
            except queue.Empty:
                continue
            order = busy.pop(worker, None)
            if not line:
                reason = worker.last_words()
                self._workers[self._workers.index(worker)] = _Worker(self._events)
                if order is not None:
                    yield Answer(order, error=reason, died=True)
            elif order is not None:
                answer = json.loads(line)
                yield Answer(order, **answer)
        idle()

    def ask_all(self, order: Order) -> list[Any]:
        """The results of one order given to all workers at once.

        Raises:
            RequestError: what one of them was asked for was wrong.
            RunError: one of them failed.
        """
        answers = list(self.give([order] * len(self._workers)))  # All of them, lest one be taken for a later order's.
        return [_result(answer) for answer in answers]

    def ask_each(self, orders: Iterable[Order]) -> list[tuple[Order, Any]]:
        """Orders with their results, in the order of completion.

        Raises:
            RequestError: what one of them was asked for was wrong.
            RunError: one of them failed.
        """
        return [(answer.order, _result(answer)) for answer in self.give(orders)]


def _result(answer: Answer) -> Any:
    if answer.error is not None:
        error = RequestError(answer.error) if answer.wrong else RunError(answer.error)
        error.add_note(answer.traceback)
        raise error
    return answer.done


class _Worker:
    """One process, in the parent's process group; it ends itself when the parent's end of its stdin closes."""

    def __init__(self, events: queue.SimpleQueue[tuple[_Worker, str]]) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        with ExitStack() as opened:
            self._errors = opened.enter_context(tempfile.TemporaryFile())
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "etude.curriculum.launch.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                env=os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": paths},
            )
            opened.pop_all()
        self._reader = threading.Thread(target=self._read, args=(events,), daemon=True)
        self._reader.start()

    def send(self, order: Order) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # It has died; the reader says so.
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._errors.close()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def last_words(self) -> str:
        """How the process ended, and the last line it wrote before it had a run's log to write to."""
        code = self._process.wait()
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        how += ", as the system does where memory runs out" if -code == signal.SIGKILL else ""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        self.kill()
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"the worker process {how}" + (f": {last}" if last else "")

    def _read(self, events: queue.SimpleQueue[tuple[_Worker, str]]) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as answers:
            for line in answers:
                events.put((self, line))
        events.put((self, ""))

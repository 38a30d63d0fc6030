"""A worker: a fresh interpreter that does what its parent asks, one thing after another, until the parent is gone.

`python -m etude.curriculum.launch.worker` reads orders from stdin and answers on stdout, a line of JSON each:

    {"references": {"task": "reach", "episodes": 20, "imports": []}}   -> {"done": {...}}
    {"measure": "studies/quick"}                                       -> {"done": {...}}
    {"run": "studies/quick/runs/scratch-seed0"}                        -> {"done": null}

or `{"error": "why", "wrong": false, "traceback": "where"}`, `wrong` being whether the request was. It is kept for
several runs since importing torch takes seconds. A run does not see what ran before it: all its randomness is seeded
where it begins.
"""

from __future__ import annotations

import faulthandler
import json
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from etude.envs.errors import RequestError, RunError, in_words


def main() -> None:
    """Obey until stdin ends, which is where the parent has gone or has no more to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent hears Ctrl-C too, and ends its workers.
    faulthandler.enable()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # What a task or an agent prints is no answer.
    orders: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    import torch

    torch.set_num_threads(1)
    while True:
        order = orders.get()
        try:
            answer = {"done": _obey(order)}
        except (Exception, SystemExit) as error:  # A task's or an agent's own code may ask to exit.
            wrong = isinstance(error, RequestError)
            answer = {"error": in_a_line(error), "wrong": wrong, "traceback": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")


def in_a_line(error: BaseException) -> str:
    """What a parent is told of an error."""
    return " ".join(str(error).split()) if isinstance(error, RequestError | RunError) else in_words(error)


def _listen(orders: queue.SimpleQueue[dict[str, Any]]) -> None:
    for line in sys.stdin:
        orders.put(json.loads(line))
    os._exit(0)


def _obey(order: dict[str, Any]) -> Any:
    ((what, argument),) = order.items()
    if what == "references":
        from etude.curriculum.imports import import_all
        from etude.oracles import measure_references

        import_all(argument["imports"])
        return measure_references(argument["task"], argument["episodes"])
    if what == "measure":
        from etude.curriculum.launch.estimate import measure

        return measure(Path(argument))
    execute_logged(Path(argument))
    return None


def execute_logged(run_folder: Path, stop: Callable[[], bool] = lambda: False, patience: float = 0.0) -> bool:
    """Execute a run as `execute` does, and write what its process prints to the log in its folder."""
    from etude.curriculum.runner import execute
    from etude.curriculum.saves import make_folder
    from etude.curriculum.study import RunFolder

    folder = RunFolder(run_folder)
    make_folder(folder.path)
    before = [os.dup(stream.fileno()) for stream in (sys.stdout, sys.stderr)]
    with folder.log.open("wb") as log:
        _redirect([log.fileno()] * 2)
    try:
        return execute(folder.path, stop, patience)
    finally:
        _redirect(before)
        for handle in before:
            os.close(handle)
        if not folder.log.stat().st_size:
            folder.log.unlink()


def _redirect(handles: Sequence[int]) -> None:
    for stream, handle in zip((sys.stdout, sys.stderr), handles, strict=True):
        stream.flush()
        os.dup2(handle, stream.fileno())


if __name__ == "__main__":
    main()

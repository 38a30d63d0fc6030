"""A study: references, an estimate, the runs side by side on this machine or on a cluster, and the results."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console

from etude.curriculum.claim import claim_folder
from etude.curriculum.holding import hold, holder
from etude.curriculum.jobs import refuse_beside_jobs
from etude.curriculum.launch.cluster import Cluster
from etude.curriculum.launch.display import clock, make_display
from etude.curriculum.launch.environment import describe_environment
from etude.curriculum.launch.estimate import Cost, makespan
from etude.curriculum.launch.pool import Answer, Order, Pool
from etude.curriculum.plan import RunName, plan_run, run_names
from etude.curriculum.repair import mend
from etude.curriculum.saves import write_text
from etude.curriculum.status import Status, read_status, run_status, steps_kept, write_status
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite
from etude.envs.errors import RequestError, RunError
from etude.oracles.scores import score

DONE, FAILED, INTERRUPTED = 0, 1, 130


def run_study(
    suite: Suite, out: Path, jobs: int, console: Console | None = None, cluster: Cluster | None = None
) -> int:
    """Bring every run of a suite to its end, then write and show what came of it.

    What has been recorded stays: runs that are done are not run again, and the others go on from their saves.

    Args:
        suite: checked already.
        out: the study's folder, made if it is not there.
        jobs: runs side by side, each in a process with one thread for torch and one for the simulator.
        console: where progress and results are shown.
        cluster: where the runs are executed, if not on this machine.

    Returns:
        0 if all is done, 1 if a run failed or diverged, 130 if interrupted.

    Raises:
        RequestError: the folder holds something else, another command is at work in it, or its references are of other
            tasks than the present ones.
        RunError: references could not be measured.
    """
    console = console or Console()
    try:
        with _ended_in_order():
            if not out.is_dir():
                claim_folder(suite, out)
            with _claimed(suite, out):
                study = _Study(suite, StudyFolder(out), jobs, console, cluster)
                study.prepare()
                study.run()
                return study.finish()
    except KeyboardInterrupt:
        return INTERRUPTED


class _Study:
    """A study at work."""

    def __init__(self, suite: Suite, folder: StudyFolder, jobs: int, console: Console, cluster: Cluster | None) -> None:
        self.suite, self.folder, self.console, self.cluster = suite, folder, console, cluster
        self.names = run_names(suite)
        self.ends = {name: plan_run(suite, name.group).segments[-1].end for name in self.names}
        self.jobs = jobs
        self.cost: Cost | None = None
        self.unwritten: dict[RunName, Status] = {}  # of runs whose status.json cannot be written

    def prepare(self) -> None:
        """Write what the study is run on, and check the records and references that are there."""
        if not self.folder.environment.exists():
            _write_json(self.folder.environment, describe_environment())
        self.missing = _missing_references(self.suite, self.folder)
        for name in self.names:
            for fault in mend(self.folder.run(name), self.suite, name):
                self.console.print(f"{name}: {fault}", highlight=False, markup=False, soft_wrap=True)
        self.statuses = {name: self._status(name) for name in self.names}
        self.jobs = max(1, min(self.jobs, len(self._open())))

    def run(self) -> None:
        """Measure, estimate, and execute the runs that are not done, longest first."""
        if not self._open() and not self.missing:
            return
        if self.missing:
            tasks = "1 task" if len(self.missing) == 1 else f"{len(self.missing)} tasks"
            self.console.print(f"measuring the oracle and the floor of {tasks}", highlight=False)
        if self.missing or self.cluster is None:
            with Pool(self.jobs) as pool:
                self._measure_references(pool)
                if self.cluster is None and self._open():
                    self._estimate(pool)
                    self._execute(pool.give)
        if self.cluster is not None and self._open():
            self._execute(self.cluster.give)

    def _estimate(self, pool: Pool) -> None:
        """What a step costs, measured where no run tells; what fails meanwhile is for the runs to fail of."""
        self.cost = Cost.so_far(self.statuses.values())
        if self.cost is not None:
            return
        try:
            self.cost = Cost.of(pool.ask_all({"measure": str(self.folder.path)}))
        except (RequestError, RunError) as error:
            self.console.print(f"no estimate: {error}", highlight=False, markup=False, soft_wrap=True)

    def _execute(self, give: Callable[[list[Order], Callable[[], None]], Iterator[Answer]]) -> None:
        names = sorted(self._open(), key=self._seconds_left, reverse=True)
        self._announce(names)
        with make_display(self.console) as display:

            def show() -> None:
                self.statuses = {name: self._status(name) for name in self.names}
                display.show({str(n): s for n, s in self.statuses.items()}, self._all_seconds_left())

            for answer in give([{"run": str(self.folder.run(name).path)} for name in names], show):
                self._note(answer)
            show()

    def finish(self) -> int:
        """Metrics, figures, W&B, and the printed table; then, even where these fail, what did not go well."""
        try:
            self._show_results()
        finally:
            broken = self._tell_broken()
        return FAILED if broken else DONE

    def _show_results(self) -> None:
        from etude.curriculum.metrics.compute import measure_study
        from etude.curriculum.metrics.curves import load_curves
        from etude.curriculum.report.figures import draw_learning_curves
        from etude.curriculum.report.table import print_table
        from etude.curriculum.wandb_sink import feed_study

        path = self.folder.path
        curves = load_curves(path)
        metrics = measure_study(curves)
        draw_learning_curves(curves, path / "figures")
        feed_study(path, self.suite.wandb.mode, self.suite.wandb.project)
        print_table(path, self.console, metrics)

    def _tell_broken(self) -> bool:
        """Print the runs that are not done, and why; whether there are any."""
        broken = {name: s for name in self.names if (s := self._status(name)).state != "done"}
        if broken:
            self.console.print(f"{len(broken)} of {len(self.names)} runs did not end well:", highlight=False)
        for name, status in broken.items():
            run = self.folder.run(name)
            elsewhere = f"{who} is at work on it" if (who := holder(run.path)) else "not done"
            told = f"  {name} {status.state}: {status.reason or elsewhere} ({run.log})"
            self.console.print(told, highlight=False, markup=False, soft_wrap=True)
        return bool(broken)

    def _open(self) -> list[RunName]:
        return [name for name in self.names if self.statuses[name].state not in ("done", "diverged")]

    def _status(self, name: RunName) -> Status:
        return replace(self.unwritten.get(name) or run_status(self.folder.run(name)), of=self.ends[name])

    def _kept(self, name: RunName) -> int:
        return steps_kept(self.folder.run(name), self.statuses[name])

    def _note(self, answer: Answer) -> None:
        """Mark a run as failed whose process could not do it itself."""
        name = next(name for name in self.names if str(name) == Path(answer.order["run"]).name)
        folder = self.folder.run(name)
        status = read_status(folder.status)
        told = status.state in ("failed", "diverged")
        if answer.error is not None and not folder.is_held() and (answer.died or not told):
            where = f"{status.task or 'before the first task'} at step {status.step:,}, seed {name.seed}"
            reason = answer.error.removeprefix(f"{name} failed: ")  # So it begins where the run knew the place itself.
            reason = reason if reason != answer.error else f"{where}: {answer.error}"
            failed = replace(status, state="failed", reason=reason, speed=None)
            try:
                write_status(folder.status, failed)
            except OSError:
                self.unwritten[name] = failed

    def _measure_references(self, pool: Pool) -> None:
        common = {"episodes": self.suite.evaluation.episodes, "imports": list(self.suite.imports)}
        orders: list[Order] = [{"references": {"task": task} | common} for task in self.missing]
        found = {order["references"]["task"]: result for order, result in pool.ask_each(orders)}
        for entry in found.values():
            score((), entry)
        if found:
            stored = _stored_references(self.folder) | found
            _write_json(self.folder.references, {task: stored[task] for task in self.suite.tasks})

    def _seconds_left(self, name: RunName) -> float:
        status = self.statuses[name]
        if status.speed and status.step:
            return (self.ends[name] - status.step) / status.speed
        # Where nothing was measured, the steps stand for the seconds: the longest run is still the first.
        return (self.cost or Cost(1.0, 0.0)).seconds(self.suite, name, self._kept(name))

    def _all_seconds_left(self) -> float | None:
        """Until all is done; None where it was not measured, as a cluster's machines and queue are not."""
        running = [name for name in self._open() if self.statuses[name].state == "running"]
        waiting = [name for name in self._open() if self.statuses[name].state == "pending"]
        if self.cost is None:
            return None
        return makespan([*map(self._seconds_left, running), *map(self._seconds_left, waiting)], self.jobs)

    def _announce(self, names: list[RunName]) -> None:
        steps = sum(self.ends[name] - self._kept(name) for name in names)
        begun = any(status.step or status.reason for status in (self.statuses[name] for name in self.names))
        where = f"{self.jobs} side by side" if self.cluster is None else f"a job each on {self.cluster.name}"
        runs = f"{len(names)} run{'s' * (len(names) != 1)}{' to finish' if begun else ''}, {where}"
        self.console.print(f"{self.suite.name}: {runs}, {steps:,} steps", highlight=False)
        if len(self.suite.tasks) == 1 and {"sequential", "scratch"} <= set(self.suite.regimes):
            self.console.print("one task: sequential and scratch are the same training, and there is no FWT")
        if self.cost is not None:
            seconds = makespan(map(self._seconds_left, names), self.jobs)
            speed = f"{1 / self.cost.step:,.0f} steps/s each, updates included"
            self.console.print(f"about {clock(seconds)} from now (measured: {speed})", highlight=False)


@contextmanager
def _claimed(suite: Suite, out: Path) -> Iterator[None]:
    """Hold a study's folder for this suite."""
    with hold(out) as got:
        if got is None:
            raise RequestError(f"{out}: {holder(out)} is at work here; wait for it, or choose another --out")
        refuse_beside_jobs(out)
        claim_folder(suite, out, lambda: _missing_references(suite, StudyFolder(out)))
        yield


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end a study alike; a thread other than the main one has no say in signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    heard = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _missing_references(suite: Suite, folder: StudyFolder) -> list[str]:
    """The tasks whose references are still to be measured.

    Raises:
        RequestError: a task is not what it was when they were measured, or they cannot be read.
    """
    from etude.oracles import fingerprint

    stored = _stored_references(folder)
    for task in suite.tasks:
        now = fingerprint(task, suite.evaluation.episodes)
        then = stored[task]["fingerprint"] if task in stored else now
        if then != now:
            differing = ", ".join(key for key in now if then.get(key) != now[key])
            raise RequestError(
                f"{folder.references}: {task} has changed since this study began ({differing}); choose another --out"
            )
    return [task for task in suite.tasks if task not in stored]


def _stored_references(folder: StudyFolder) -> dict[str, Any]:
    path = folder.references
    if not path.exists():
        return {}
    try:
        stored = dict(json.loads(path.read_bytes()))
        for entry in stored.values():
            dict(entry["fingerprint"])
            score((), entry)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from None
    except (ValueError, TypeError, KeyError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise RequestError(f"{path}: cannot be read ({reason}); delete it to have it measured again") from None
    return stored


def _write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value) + "\n")

"""One run, from wherever it stands to its end: learn, evaluate, record, save, task by task."""

from __future__ import annotations

import json
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from etude.curriculum.agents import Diverged, make_agent
from etude.curriculum.agents.check import rollout_size
from etude.curriculum.cost import COUNTED, RunCost
from etude.curriculum.evaluator import Evaluator, task_envs
from etude.curriculum.holding import Hold
from etude.curriculum.imports import import_all
from etude.curriculum.joint import training_envs, training_seeds
from etude.curriculum.methods import attach, get_method
from etude.curriculum.observations import EpisodeTally
from etude.curriculum.plan import Checkpoint, Segment, plan_run, run_names
from etude.curriculum.records import Evaluation, append_evaluations, keep_evaluations, keep_training
from etude.curriculum.repair import remove_damaged_saves
from etude.curriculum.saves import naming, newest_step, sync, write_folder, write_save
from etude.curriculum.status import Status, read_status, write_status
from etude.curriculum.study import RunFolder
from etude.curriculum.suite import Suite, read_suite
from etude.envs import stream_seed
from etude.envs.errors import RequestError, RunError, in_words, nearest

STRETCH = 2048
SAVING_SHARE = 0.02
STATUS_EVERY = 1.0


class _Stopped(Exception):
    """The run was asked to stop, and is saved."""


class _TakenOver(RunError):
    """Another process took the run, and its status with it."""


def execute(run_folder: Path, stop: Callable[[], bool] = lambda: False, patience: float = 0.0) -> bool:
    """Bring one run to its end, from its newest save if it has one.

    A run that is done or has diverged is left as it is; one that failed is tried again. The study's folder above it
    must hold the suite; where it holds references, the scores so far are shown.

    Args:
        run_folder: `<study>/runs/<group>-seed<k>`.
        stop: asked every few thousand steps; once it says yes, the run is saved where it stands, and left.
        patience: seconds to wait for another process at work on this run to be gone.

    Returns:
        Whether the run is at its end, and was not stopped before.

    Raises:
        RequestError: the folder is no run of its study's suite.
        RunError: the run failed or diverged; its status names the task, the step, the seed and the cause. Or another
            process executes it.
    """
    import torch

    torch.set_num_threads(1)
    folder = RunFolder(run_folder)
    suite = read_suite(folder.study.path)
    import_all(suite.imports)
    with folder.held(patience) as hold:
        if read_status(folder.status).state in ("done", "diverged"):
            return True
        return _Run(folder, suite, stop, hold).finish()


class _Run:
    """A run at work."""

    def __init__(self, folder: RunFolder, suite: Suite, stop: Callable[[], bool], hold: Hold) -> None:
        names = {str(name): name for name in run_names(suite)}
        if folder.path.name not in names:
            raise RequestError(f"{folder.path}: not a run of this suite; {nearest(folder.path.name, names)}")
        self.name = names[folder.path.name]
        self.stop, self.hold = stop, hold
        self.folder, self.suite, self.plan = folder, suite, plan_run(suite, self.name.group)
        self.references = _read_references(folder)
        self.seconds = {"learning": 0.0, "evaluation": 0.0, "saving": 0.0}
        self.status = Status(state="running", step=newest_step(folder.save), of=self.plan.segments[-1].end)
        self.last_save = 0.0

    def finish(self) -> bool:
        """Learn, evaluate, record and save until the plan is done; False where it was stopped before.

        Raises:
            RunError: it could not be done.
        """
        self.began, self.began_at = time.perf_counter(), self.status.step
        try:
            self._show()
            self._play()
        except _Stopped:
            self._show(state="pending", speed=None, reason=f"stopped and saved at step {self.status.step:,}", lost=0)
            return False
        except _TakenOver:
            raise
        except (Exception, SystemExit) as error:  # A task's or an agent's own code may ask to exit.
            state = "diverged" if isinstance(error, Diverged) else "failed"
            cause = str(error) if isinstance(error, RunError | RequestError) else in_words(error)
            if isinstance(error, OSError) and error.filename is not None:
                cause = f"{error.filename}: {error.strerror}; the same command goes on"
            where = f"{self.status.task or 'before the first task'} at step {self.status.step:,}, seed {self.name.seed}"
            reason = " ".join(f"{where}: {cause}".split())
            with suppress(OSError):  # The disk may be what failed.
                with self.folder.log.open("a") as log:
                    traceback.print_exc(file=log)
                self._show(state=state, reason=reason, speed=None)
            raise RunError(f"{self.name} {state}: {reason}") from error
        self._show(state="done", task=None, speed=None)
        return True

    def _play(self) -> None:
        suite, seed = self.suite, self.name.seed
        self.evaluator = Evaluator(suite)
        self.rollout = rollout_size(suite.agent)
        spaces = task_envs(suite, self.plan.segments[0].tasks[0], 1)
        self.agent = make_agent(
            suite.agent, spaces.single_observation_space, spaces.single_action_space, stream_seed(seed, "agent")
        )
        spaces.close()
        self.method = get_method(suite.method)()
        self.cost = RunCost(self.folder.cost)
        save, faults = remove_damaged_saves(self.folder)
        if faults:
            warnings.warn(f"{self.name}: {'; '.join(faults)}", stacklevel=1)
        state, step = None, -1
        if save is not None:
            with self._reading(save / "run.json") as path:
                state = json.loads(path.read_text())
                step = state["step"]
                state = {key: state[key] for key in ("seconds", "scores")} | {"exact": state.get("exact", True)}
        keep_evaluations(self.folder.evaluations, step)
        keep_training(self.folder.training, step)
        if state is None:
            self.status, self.began_at = replace(self.status, step=0), 0  # No save was whole.
            attach(self.method, self.agent)
            self._checkpoint(self.plan.zero, policy=True)
        else:
            self.seconds, self.began_at = state["seconds"], step
            self._show(step=step, scores=state["scores"], exact=state["exact"])
        for segment in self.plan.segments:
            if segment.end < step or (segment.end == step and segment is self.plan.segments[-1]):
                continue
            self._show(task=segment.task)
            self.envs = EpisodeTally(training_envs(suite, segment.tasks))
            if save is not None and segment.start < step <= segment.end:
                self._load(save, segment)
                if step == segment.end:
                    self.envs.close()
                    continue
            else:
                self.envs.reset(seed=training_seeds(suite, segment.tasks, seed))
                self.agent.begin_task(segment.task, self.envs, segment.budget)
                self.method.on_task_start(segment.task, self.agent)
            self._learn(segment)
            self.envs.close()
        self.evaluator.close()

    def _learn(self, segment: Segment) -> None:
        for checkpoint in segment.checkpoints:
            if checkpoint.step <= self.status.step:
                continue
            at_end = checkpoint.step == segment.end
            if at_end and segment in (self.plan.segments[0], self.plan.segments[-1]):
                self._learn_counted(segment)
            self._learn_until(checkpoint.step)
            if at_end:
                with self._timed("learning"), self.cost.counting(segment.task, "method", segment.budget):
                    self.method.on_task_end(segment.task, self.agent)
                    self.agent.end_task(segment.task)
            self._record_training(segment.task)
            self._checkpoint(checkpoint, policy=at_end)
            if at_end:
                observations = self.envs.single_observation_space
                self.cost.note(self.agent, self.method, observations, self.folder.policy(segment.end))
            stopping = self.stop() and checkpoint.step < self.plan.segments[-1].end
            if at_end or stopping or self._saving_is_cheap():
                self._save()
            if stopping:
                raise _Stopped

    def _learn_counted(self, segment: Segment) -> None:
        """Learn to a task's end, counting the operations of the last rollouts."""
        counted = min(-(-COUNTED // self.rollout) * self.rollout, segment.end - self.status.step)
        self._learn_until(segment.end - counted)
        warm_up = getattr(self.agent, "warm_up", 0)
        with self._timed("learning"), self.cost.counting(segment.task, "learning", counted, warm_up=warm_up):
            self.agent.learn(counted)
        self._come_to(segment.end)

    def _learn_until(self, step: int) -> None:
        """Learn in stretches, each of whole rollouts, so that the status moves."""
        stretch = self.rollout * max(1, STRETCH // self.rollout)
        shown = time.perf_counter()
        while (left := step - self.status.step) > 0:
            with self._timed("learning"):
                self.agent.learn(min(stretch, left))
            self._come_to(self.status.step + min(stretch, left))
            if self.status.step < step and self.stop():
                self._save()
                raise _Stopped
            if time.perf_counter() - shown > STATUS_EVERY:
                self._show()
                shown = time.perf_counter()

    def _come_to(self, step: int) -> None:
        """Note that a step was learnt, unless another process has taken the run."""
        self.status = replace(self.status, step=step)
        if self.hold.lost is not None:
            raise _TakenOver(f"{self.folder.path}: {self.hold.lost} has taken over this run")

    def _checkpoint(self, checkpoint: Checkpoint, policy: bool) -> None:
        with self._timed("evaluation"):
            evaluations = self.evaluator.evaluate(self.agent, checkpoint.step, checkpoint.tasks)
        with self._timed("saving"):
            append_evaluations(self.folder.evaluations, evaluations)
            if policy:
                write_folder(self.folder.policy(checkpoint.step), self.agent.save_policy)
        self._show(scores=self.status.scores | self._scores(evaluations))

    def _scores(self, evaluations: list[Evaluation]) -> dict[str, float]:
        from etude.oracles import score

        return {
            e.task: float(np.mean(score(np.array(e.returns), self.references[e.task])))
            for e in evaluations
            if e.task in self.references
        }

    def _record_training(self, task: str) -> None:
        statistics: Callable[[], dict[str, float]] = getattr(self.agent, "statistics", dict)
        values = self.envs.take() | statistics()
        line = {"step": self.status.step, "task": task} | {key: _recorded(key, v) for key, v in values.items()}
        with self._timed("saving"), naming(self.folder.training), self.folder.training.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def _saving_is_cheap(self) -> bool:
        spent = self.seconds["saving"] + self.last_save
        return spent <= SAVING_SHARE * (sum(self.seconds.values()) + self.last_save)

    def _save(self) -> None:
        def write(folder: Path) -> None:
            state = {"step": self.status.step, "scores": self.status.scores, "seconds": self.seconds}
            state |= {"exact": self.status.exact}
            (folder / "run.json").write_text(json.dumps(state))
            (folder / "agent").mkdir()
            self.agent.save(folder / "agent")
            (folder / "method").mkdir()
            self.method.save(folder / "method")
            np.savez(folder / "envs.npz", allow_pickle=False, **self.envs.snapshot())

        started = time.perf_counter()
        with self._timed("saving"):
            self.folder.training.touch()
            sync(self.folder.training)
            write_save(self.folder.save, self.status.step, write)
            self.cost.note_save(self.folder.save / str(self.status.step), self.method)
        self.last_save = time.perf_counter() - started

    def _load(self, save: Path, segment: Segment) -> None:
        step, restored = self.status.step, self.envs.exact
        if restored:
            with self._reading(save / "envs.npz") as path, np.load(path, allow_pickle=False) as snapshot:
                self.envs.restore(dict(snapshot))
        else:
            stream = (self.name.seed, "resumed", f"{segment.task} at {step}")
            self.envs.reset(seed=[stream_seed(*stream, i) for i in range(self.envs.num_envs)])
        with self._reading(save / "agent") as path:
            self.agent.load(path, segment.task, self.envs, segment.budget)
        if not restored and step < segment.end:
            getattr(self.agent, "restart", lambda: None)()
            self._show(exact=False)
        attach(self.method, self.agent)
        with self._reading(save / "method") as path:
            self.method.load(path, self.agent)

    @contextmanager
    def _reading(self, path: Path) -> Iterator[Path]:
        try:
            yield path
        except Exception as error:
            way_out = f"delete {self.folder.save} to start this run again"
            raise RunError(f"{path}: cannot be read ({type(error).__name__}: {error}); {way_out}") from error

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[what] += time.perf_counter() - started

    def _show(self, **changes: Any) -> None:
        elapsed = time.perf_counter() - self.began
        steps = changes.get("step", self.status.step) - self.began_at
        speed = max(0.1, round(steps / elapsed, 1)) if steps > 0 else None
        seconds = {what: round(spent, 3) for what, spent in self.seconds.items()}
        new: dict[str, Any] = {"speed": speed, "seconds": seconds} | changes
        self.status = replace(self.status, **new)
        write_status(self.folder.status, self.status)


def _recorded(key: str, value: Any) -> float | None:
    """A statistic as JSON has it: a number, None where it is not finite."""
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, int | float):
        raise RunError(f"the agent's statistics(): {key} is {value!r:.60}, not a number")
    return value if np.isfinite(value) else None


def _read_references(folder: RunFolder) -> dict[str, Any]:
    path = folder.study.references
    return dict(json.loads(path.read_bytes())) if path.exists() else {}

"""Weights & Biases as a sink of a study's records: fed from scratch, at any time, in a process of its own.

That process keeps W&B's chatter, signal handlers and waiting away from the caller, and an alarm ends it when it stands
still, so no study waits long for W&B or fails with it.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np

from etude.curriculum.metrics.compute import measure
from etude.curriculum.metrics.curves import Curves, load_curves
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.report.figures import draw_learning_curves
from etude.curriculum.report.words import counted
from etude.curriculum.suite import read_suite
from etude.envs.errors import RequestError

Mode = Literal["online", "offline", "disabled"]

SERVER_TIMEOUT = 5.0
"""Seconds that W&B's server gets to answer when a run begins, and to take the rest when it ends."""
PROMPT = 2.0
"""Seconds that a run may take to begin, or to end, as often as it likes: a server that is well needs no more."""
WAITING = 16.0
"""Seconds beyond that which all the runs of a feed may wait together; what is not sent then is written offline."""
GRACE = 3.0
"""Seconds past its own timeouts after which W&B is given up."""

# These would make our runs another's, or silence them: the suite decides. Keys, hosts and proxies are the user's.
_NOT_INHERITED = {
    f"WANDB_{name}"
    for name in "DIR DISABLED JOB_TYPE MODE NAME PROJECT RESUME RUN_GROUP RUN_ID SWEEP_ID SWEEP_PARAM_PATH".split()
}


def feed_study(study: Path, mode: Mode | None = None, project: str | None = None) -> bool:
    """Feed every run of a study and their aggregate to W&B, in place of what an earlier feed left in `wandb/`.

    What goes wrong at W&B's is told in one line on stderr and never raised; what could not be sent is written offline.

    Args:
        study: its folder.
        mode: "disabled" does nothing; the suite's if not given.
        project: the W&B project; the suite's if not given.

    Returns:
        Whether all went as asked.

    Raises:
        RequestError: the study cannot be read.
    """
    suite = read_suite(study)
    mode, project = mode or suite.wandb.mode, project or suite.wandb.project
    if mode == "disabled":
        return True
    (study / "wandb").mkdir(exist_ok=True)
    fault, written = _feed_apart(study, mode, project)
    if fault and not written and mode == "online":
        _, written = _feed_apart(study, "offline", project)
    if fault:
        rest = f"; written offline, to be sent with: wandb sync {study / 'wandb' / 'offline-run-*'}" if written else ""
        print(f"warning: W&B ({mode}): {fault}{rest}", file=sys.stderr)
    return fault is None


def _feed_apart(study: Path, mode: Mode, project: str) -> tuple[str | None, bool]:
    """Feed in a process of its own.

    Returns:
        The fault in one line, None if there was none; and whether everything is in W&B's hands or, failing that, in
        its files.
    """
    folder = study.resolve() / "wandb"
    environment = {key: value for key, value in os.environ.items() if key not in _NOT_INHERITED}
    environment |= {
        "WANDB_ERROR_REPORTING": "false",  # W&B's own telemetry would go out even offline
        "WANDB_CACHE_DIR": str(folder / "cache"),
        "WANDB_DATA_DIR": str(folder / "data"),
    }
    command = [sys.executable, "-P", "-m", "etude.curriculum.wandb_sink", str(study), mode, project]
    with (folder / "feed.log").open("wb") as log, (folder / "feed.out").open("w+b") as out:
        # What it prints goes to a file: W&B's own service inherits a pipe, and would hold it open.
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=log, env=environment, process_group=0
        ) as fed:
            try:
                code = fed.wait()
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(fed.pid, signal.SIGKILL)  # W&B's service goes on sending for as long as it likes.
        out.seek(0)
        said = out.read().decode(errors="replace").splitlines()
    (folder / "feed.out").unlink()
    if code == _DONE:
        return None, True
    if code == _WRONG_REQUEST:
        raise RequestError(said[-1])
    if code == -signal.SIGALRM:
        return "it did not answer in time", False
    fault = said[0] if said else f"the feeding process failed, see {study / 'wandb' / 'feed.log'}"
    return fault, code == _WRITTEN_OFFLINE


AGGREGATE = "aggregate"
_DONE, _FAILED, _WRONG_REQUEST, _WRITTEN_OFFLINE = range(4)


def _main(study: Path, mode: Mode, project: str) -> int:
    """What the process of its own does: print a line a fault, and exit with what came of it."""
    try:
        curves = load_curves(study)
    except RequestError as error:
        print(error)
        return _WRONG_REQUEST
    attempts: tuple[Mode, ...] = ("online", "offline") if mode == "online" else (mode,)
    fed: set[str] = set()
    for attempt in attempts:
        try:
            _feed(curves, attempt, project, fed)
        except Exception as error:  # whatever W&B raises, the study goes on
            lines = [*filter(None, str(error).splitlines()), type(error).__name__]
            print(lines[0].rstrip(". "))
        else:
            return _DONE if attempt == mode else _WRITTEN_OFFLINE
    return _FAILED


def _feed(curves: Curves, mode: Mode, project: str, fed: set[str]) -> None:
    """Feed the runs and the aggregate that are not among `fed`, and add them to it one by one."""
    sink = _Sink(curves, mode, project, fed)
    staged_before = [path for path in (curves.study / "wandb" / "data").rglob("*") if path.is_file()]
    for regime, records in curves.regimes.items():
        for row, seed in enumerate(records.seeds):
            name = f"{regime}-seed{seed}"
            if name in fed or np.isnan(records.returns[row]).all():
                continue
            with sink.run(name, regime) as run:
                _log(run, _rows(StudyView(curves, (seed,)), regime))
                if seed in records.unfinished:
                    run.summary["unfinished"] = records.unfinished[seed]
    if AGGREGATE not in fed:
        with sink.run(AGGREGATE, AGGREGATE) as run:
            _log_aggregate(run, curves)
    for path in staged_before:
        path.unlink()


def _log(run: Any, rows: Iterable[Mapping[str, float]]) -> None:
    for row in rows:
        run.log(dict(row))


def _rows(view: StudyView, regime: str, prefix: str = "") -> Iterator[dict[str, float]]:
    """A row a checkpoint: step, and score, success rate (0 to 1) and return of the tasks evaluated there."""
    quantities = {"score": view.scores(regime), "success": view.successes(regime), "return": view.returns(regime)}
    for column, step in enumerate(view.steps(regime)):
        values = {
            f"{prefix}{quantity}/{task}": float(of_tasks[index, column])
            for index, task in enumerate(view.tasks)
            for quantity, of_tasks in quantities.items()
            if not np.isnan(of_tasks[index, column])
        }
        if values:
            yield {"global_step": int(step)} | values


def _log_aggregate(run: Any, curves: Curves) -> None:
    """Means over the finished seeds, the metrics, the table of D_i and the figure.

    The sequential regime's keys are those of its runs, so that W&B draws them together; the others' carry the regime.
    """
    import wandb

    metrics = measure(curves)
    for regime in curves.regimes:
        seeds = curves.regimes[regime].finished
        if seeds:
            _log(run, _rows(StudyView(curves, seeds), regime, "" if regime == "sequential" else f"{regime}/"))
        run.summary[f"seeds/{regime}"] = counted(metrics["regimes"][regime]["seeds"])
    for name, metric in metrics["metrics"].items():
        run.summary[name if metric["reason"] is None else f"{name}_reason"] = metric["reason"] or metric["value"]
        for spread in ("range", "interval"):
            for end in ("low", "high"):
                if metric[spread]:
                    run.summary[f"{name}_{spread}/{end}"] = metric[spread][end]
    columns = ["task", "C", "success_at_end", "final", "final_success", "D", "D_ceiling", "D_reason"]
    rows = [[task, *(entry[column] for column in columns[1:])] for task, entry in metrics["tasks"].items()]
    figure = str(draw_learning_curves(curves, curves.study / "figures")[0])
    run.log({"forgetting": wandb.Table(columns=columns, data=rows), "learning_curves": wandb.Image(figure)})


class _Sink:
    """Where the runs of one feed go."""

    def __init__(self, curves: Curves, mode: Mode, project: str, fed: set[str]):
        study = curves.study.resolve()
        config = curves.suite.model_dump(mode="json")
        self._folder = study / "wandb"
        self._about: dict[str, Any] = {"mode": mode, "project": project, "config": config, "group": study.name}
        self._others = [regime for regime in curves.regimes if regime != "sequential"]
        self._token = _token(self._folder / "id")
        self._fed, self._waited = fed, 0.0

    @contextmanager
    def run(self, name: str, job_type: str) -> Iterator[Any]:
        """A W&B run; what an earlier feed wrote of it is removed once this one is written."""
        import wandb

        run_id = f"{name}-{self._token}"
        earlier = list(self._folder.glob(f"*run-*-{run_id}*"))
        patience = self._patience()
        with self._waiting(patience):
            run = wandb.init(name=name, id=run_id, job_type=job_type, settings=self._settings(patience), **self._about)
        run.define_metric("global_step")
        for keys in ("score/*", "success/*", "return/*", *(f"{regime}/*" for regime in self._others)):
            run.define_metric(keys, step_metric="global_step")
        yield run
        with self._waiting(patience):
            run.finish()
        self._fed.add(name)
        for folder in earlier:
            shutil.rmtree(folder, ignore_errors=True)

    def _patience(self) -> float:
        """Seconds that the server gets to begin a run, and as many to end it.

        Raises:
            TimeoutError: all runs together have waited too long already.
        """
        left = WAITING - self._waited if self._about["mode"] == "online" else 2 * SERVER_TIMEOUT
        if left < 1:
            raise TimeoutError(f"too slow, {len(self._fed)} runs were waited for")
        return min(SERVER_TIMEOUT, left / 2)

    @contextmanager
    def _waiting(self, patience: float) -> Iterator[None]:
        """End this process where the block takes longer, even where it waits inside C."""
        began = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, patience + GRACE)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._waited += max(0.0, time.monotonic() - began - PROMPT)

    def _settings(self, patience: float) -> Any:
        import wandb

        return wandb.Settings(
            root_dir=str(self._folder.parent),
            reinit="create_new",  # Else a run that did not end would be taken for the next one.
            use_dot_wandb=False,
            silent=True,
            console="off",
            disable_code=True,
            disable_git=True,
            save_code=False,
            x_disable_machine_info=True,
            x_disable_meta=True,
            x_disable_stats=True,
            x_disable_viewer=True,
            x_save_requirements=False,
            x_transaction_log_flush_interval=1.0,
            init_timeout=patience,
            finish_timeout=patience,
            finish_timeout_raises=True,
        )


def _token(path: Path) -> str:
    """What makes this study's run ids its own in a project, the same at every feed."""
    if not path.exists():
        path.write_text(uuid.uuid4().hex[:8])
    return path.read_text()


if __name__ == "__main__":
    _code = _main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])  # type: ignore[arg-type]
    sys.stdout.flush()
    os._exit(_code)  # W&B would wait here for what it has given up.

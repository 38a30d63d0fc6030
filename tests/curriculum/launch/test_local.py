import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console

from etude.curriculum.claim import claim_folder
from etude.curriculum.launch import local, run_study
from etude.curriculum.launch.pool import Pool
from etude.curriculum.plan import groups, run_names
from etude.curriculum.records import read_evaluations
from etude.curriculum.runner import execute
from etude.curriculum.status import study_status
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite
from etude.envs.errors import RequestError
from etude.oracles import fingerprint

pytestmark = pytest.mark.slow
AT_ONCE = 8.0
"""Seconds in which Ctrl-C ends a command, on a machine that has other things to do as well."""
SuiteOf = Callable[..., Suite]

COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background jobs ignore it, and so do their tests.
from etude.curriculum.cli import main
sys.exit(main(["run", sys.argv[1] + "/suite.yaml", "seeds=[0]", "--out", sys.argv[2], "--jobs", "2"]))
"""

FAILS = """
import os
from etude.curriculum.methods import Method, register_method

@register_method("{name}")
class FailsInItsSecondTask(Method):
    tasks = 0

    def on_task_start(self, task, agent):
        self.tasks += 1
        if self.tasks == 2 and not os.path.exists({mended!r}):
            {act}
"""

LOST = """
import os
import numpy as np

class Lost:
    def __init__(self, observation_space, action_space, environments, parameters, seed):
        self.action = np.zeros(action_space.shape, action_space.dtype)

    def begin_task(self, task, envs, budget):
        if task == "press-button":
            {act}

    def act(self, observations):
        return np.tile(self.action, (len(observations), 1))

    def learn(self, *arguments): ...
    end_task = save = load = save_policy = load_policy = learn
"""


@pytest.fixture(scope="module")
def workers() -> Iterator[Callable[[int], AbstractContextManager[Pool]]]:
    """Pools that outlive a study, each of its size."""
    with ExitStack() as opened:
        kept = cache(lambda size: opened.enter_context(Pool(size)))
        yield lambda size: nullcontext(kept(size))


@pytest.fixture
def kept_workers(workers: Callable[[int], AbstractContextManager[Pool]], monkeypatch: pytest.MonkeyPatch) -> None:
    """A study has the workers of the one before, as a run has those of another: what they import takes seconds."""
    monkeypatch.setattr(local, "Pool", workers)


def run(suite: Suite, out: Path, jobs: int = 2) -> tuple[int, str]:
    console = Console(file=io.StringIO(), width=80)
    code = run_study(suite, out, jobs, console)
    assert isinstance(console.file, io.StringIO)
    return code, console.file.getvalue()


@contextmanager
def command(suite: Path, out: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(suite), str(out)], text=True, stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_until(condition: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def processes_of(session: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def test_a_study_runs_from_nothing_to_metrics_and_again_from_its_records(suite_of: SuiteOf, tmp_path: Path) -> None:
    out = tmp_path / "study"
    code, text = run(suite_of(), out, jobs=1)
    assert code == 0
    assert text.startswith("measuring the oracle and the floor of 2 tasks\n")
    assert "small: 2 runs, 1 side by side, 384 steps" in text and "about 0:" in text
    assert "sequential-seed0: done, 256/256 steps" in text
    assert {row["state"] for row in study_status(out)["runs"]} == {"done"}
    references = json.loads((out / "references.json").read_text())
    assert list(references) == ["reach", "press-button"]
    assert len(references["reach"]["oracle"]["returns"]) == 2
    assert json.loads((out / "environment.json").read_text())["packages"]["mujoco"]
    assert "bwt" in json.loads((out / "metrics.json").read_text())["metrics"]
    assert (out / "figures" / "learning_curves.png").stat().st_size > 0

    before = {path: path.read_bytes() for path in out.glob("runs/*/evaluations.jsonl")}
    (out / "metrics.json").unlink()
    (out / "runs" / "scratch-seed0" / "evaluations.jsonl").unlink()
    code, text = run(suite_of(seeds=[0, 1]), out, jobs=1)
    assert code == 0 and "small: 3 runs to finish" in text and "measuring the oracle" not in text
    assert "scratch-seed0: its record lacks press-button at step 0; it starts again from nothing\n" in text
    assert "2 of 2 seeds" in text and (out / "metrics.json").exists()
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.usefixtures("kept_workers")
def test_regimes_and_orders_may_be_added_and_are_the_same_beside_others(suite_of: SuiteOf, tmp_path: Path) -> None:
    tasks = ["reach", "press-button", "open-drawer"]
    agent = {"algorithm": "PPO", "environments": 6, "parameters": {"n_steps": 8, "batch_size": 24, "n_epochs": 1}}
    evaluation = {"every": 48, "episodes": 2}
    small = suite_of(tasks=tasks, agent=agent, evaluation=evaluation, budget=48)
    regimes = ["sequential", "scratch", "joint"]
    large = suite_of(tasks=tasks, agent=agent, evaluation=evaluation, budget=48, regimes=regimes, orders=2)
    grown, whole = tmp_path / "grown", tmp_path / "whole"
    code, _ = run(small, grown, jobs=1)
    before = {path: path.stat().st_mtime_ns for path in grown.glob("runs/*/evaluations.jsonl")}
    assert code == 0 and len(before) == 2
    code, text = run(large, grown, jobs=1)
    assert code == 0 and "small: 2 runs to finish, 1 side by side" in text
    code, text = run(large, whole, jobs=2)
    assert code == 0 and "small: 4 runs, 2 side by side" in text
    assert {path: path.stat().st_mtime_ns for path in before} == before
    names = {str(name) for name in run_names(large)}
    assert {path.name for path in (grown / "runs").iterdir()} == {path.name for path in (whole / "runs").iterdir()}
    assert {path.name for path in (whole / "runs").iterdir()} == names
    for name in names:
        records = [(study / "runs" / name / "evaluations.jsonl").read_bytes() for study in (grown, whole)]
        assert records[0] == records[1]
    assert set(json.loads((whole / "metrics.json").read_text())["regimes"]) == set(groups(large))


def test_a_run_is_the_same_in_a_worker_after_another_run_and_alone(
    suite_of: SuiteOf, make_study: Callable[..., StudyFolder]
) -> None:
    together = make_study("together", seeds=[0, 1], regimes=["scratch"])
    with Pool(1) as pool:
        for name in ("scratch-seed0", "scratch-seed1"):
            assert [a.error for a in pool.give([{"run": str(together.run(name).path)}])] == [None]
    alone = make_study("alone", seeds=[1], regimes=["scratch"]).run("scratch-seed1")
    execute(alone.path)
    assert alone.evaluations.read_bytes() == together.run("scratch-seed1").evaluations.read_bytes()
    assert not together.run("scratch-seed1").log.exists()


@pytest.mark.usefixtures("kept_workers")
@pytest.mark.parametrize(
    ("act", "reason"),
    [
        ('raise RuntimeError("no memory left")', "press-button at step 128, seed 0: RuntimeError: no memory left"),
        (
            'raise ValueError("no [/data/cfg] for it")',
            "press-button at step 128, seed 0: ValueError: no [/data/cfg] for it",
        ),
        (
            "os.kill(os.getpid(), 9)",
            "press-button at step 128, seed 0: the worker process was ended by SIGKILL, as the system does",
        ),
    ],
    ids=["raises", "raises in brackets", "is killed"],
)
def test_a_run_that_fails_is_told_and_the_others_finish(
    suite_of: SuiteOf, tmp_path: Path, act: str, reason: str
) -> None:
    name = f"fails_{os.urandom(4).hex()}"
    mended = tmp_path / "mended"
    (tmp_path / f"{name}.py").write_text(FAILS.format(name=name, act=act, mended=str(mended)))
    suite = suite_of(method=name, imports=[str(tmp_path / f"{name}.py")])
    code, text = run(suite, tmp_path / "study", jobs=1)
    assert code == 1
    sequential, scratch = study_status(tmp_path / "study")["runs"]
    assert (sequential["state"], scratch["state"]) == ("failed", "done")
    assert sequential["reason"].startswith(reason) and sequential["step"] == 128
    assert "1 of 2 runs did not end well" in text and reason in text
    mended.touch()
    code, _ = run(suite, tmp_path / "study", jobs=1)
    assert code == 0


@pytest.mark.usefixtures("kept_workers")
@pytest.mark.parametrize("act", ['raise ValueError("lost")', "os.kill(os.getpid(), 9)"], ids=["raises", "is killed"])
def test_a_composition_that_cannot_be_learnt_fails_the_runs_that_come_to_it_alone(
    suite_of: SuiteOf, tmp_path: Path, act: str
) -> None:
    name = f"lost_{os.urandom(4).hex()}"
    (tmp_path / f"{name}.py").write_text(LOST.format(act=act))
    agent = {"algorithm": f"{name}:Lost", "environments": 4}
    suite = suite_of(agent=agent, regimes=["scratch", "isolated"], imports=[str(tmp_path / f"{name}.py")])
    code, text = run(suite, tmp_path / "study", jobs=1)
    assert code == 1 and "no estimate: " in text and "1 of 2 runs did not end well" in text
    scratch, isolated = study_status(tmp_path / "study")["runs"]
    assert (scratch["state"], isolated["state"]) == ("failed", "done")
    assert scratch["reason"].startswith("press-button at step 0, seed 0: ")


@pytest.mark.usefixtures("kept_workers")
def test_a_run_whose_status_cannot_be_written_fails_alone(suite_of: SuiteOf, tmp_path: Path) -> None:
    suite, study = suite_of(regimes=["scratch", "isolated"]), StudyFolder(tmp_path / "study")
    claim_folder(suite, study.path)
    study.run("scratch-seed0").status.mkdir(parents=True)
    code, text = run(suite, study.path, jobs=1)
    assert code == 1 and "1 of 2 runs did not end well" in text
    assert "scratch-seed0 failed: before the first task at step 0, seed 0: " in text and "Is a directory" in text
    assert study_status(study.path)["runs"][1]["state"] == "done"


@pytest.mark.usefixtures("kept_workers")
def test_a_run_that_is_executed_elsewhere_is_told_and_is_no_success(suite_of: SuiteOf, tmp_path: Path) -> None:
    suite, study = suite_of(), StudyFolder(tmp_path / "study")
    claim_folder(suite, study.path)
    with study.run("sequential-seed0").held():
        code, text = run(suite, study.path)
    assert code == 1 and "1 of 2 runs did not end well" in text
    assert f"sequential-seed0 pending: process {os.getpid()} on " in text and " is at work on it" in text
    assert run(suite, study.path)[0] == 0


@pytest.fixture(scope="module")
def whole(suite_of: SuiteOf, tmp_path_factory: pytest.TempPathFactory) -> tuple[Suite, bytes]:
    """A suite whose runs take long enough to be stopped, and the record of its sequential run that was not."""
    suite = suite_of(budget=2048, evaluation={"every": 128, "episodes": 2})
    study = StudyFolder(tmp_path_factory.mktemp("whole") / "study")
    claim_folder(suite, study.path)
    run = study.run("sequential-seed0")
    execute(run.path)
    return suite, run.evaluations.read_bytes()


@pytest.mark.usefixtures("kept_workers")
@pytest.mark.parametrize("way", ["kill", "interrupt"])
def test_a_command_that_was_stopped_goes_on_where_it_was(whole: tuple[Suite, bytes], tmp_path: Path, way: str) -> None:
    suite, undisturbed = whole
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "suite.yaml").write_text(suite.to_yaml())
    out = StudyFolder(tmp_path / "study")
    record = out.run("sequential-seed0").evaluations
    with command(tmp_path / "suite", out.path) as process:
        wait_until(lambda: len(read_evaluations(record)) > 3)
        with pytest.raises(RequestError, match=f"study: process {process.pid} on .* is at work here"):
            run(suite, out.path)
        session = process.pid
        assert len(processes_of(session)) == 3
        process.send_signal(signal.SIGKILL if way == "kill" else signal.SIGINT)
        printed, _ = process.communicate(timeout=AT_ONCE)
        wait_until(lambda: not processes_of(session), seconds=5)
        if way == "interrupt":
            assert process.returncode == 130
            assert f"etude run {tmp_path}/suite/suite.yaml 'seeds=[0]' --out={out.path} --jobs=2\n" in printed
    # A process that is gone may have threads that end after it, and hold its locks until then.
    wait_until(lambda: [row["state"] for row in study_status(out.path)["runs"]] == ["pending", "pending"], seconds=5)
    before = len(read_evaluations(record))
    assert before > 3
    code, text = run(suite, out.path)
    assert code == 0 and "2 runs to finish" in text
    assert record.read_bytes() == undisturbed


def test_ctrl_c_while_references_are_measured_ends_the_command_at_once_and_tells_what_goes_on(
    suite_of: SuiteOf, tmp_path: Path
) -> None:
    (tmp_path / "suite.yaml").write_text(suite_of(evaluation={"every": 64, "episodes": 500}).to_yaml())
    out = StudyFolder(tmp_path / "study")
    with command(tmp_path, out.path) as process:
        assert process.stdout is not None and process.stdout.readline().startswith("measuring the oracle")
        wait_until(lambda: len(processes_of(process.pid)) == 3)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=AT_ONCE)
        assert process.returncode == 130 and not out.references.exists()
        assert f"etude run {tmp_path}/suite.yaml 'seeds=[0]' --out={out.path} --jobs=2\n" in printed
        wait_until(lambda: not processes_of(process.pid), seconds=5)


@pytest.mark.usefixtures("kept_workers")
def test_a_suite_of_one_task_is_told_that_its_regimes_are_the_same(suite_of: SuiteOf, tmp_path: Path) -> None:
    code, text = run(suite_of(tasks=["reach"]), tmp_path / "study", jobs=1)
    assert code == 0
    assert "one task: sequential and scratch are the same training, and there is no FWT" in text
    assert "FWT is undefined: needs at least 2 tasks." in text


@pytest.mark.parametrize(("key", "value"), [("version", 99), ("sources", "0" * 64), ("mujoco", "3.3.7")])
def test_references_of_tasks_that_have_changed_since_are_refused(
    suite_of: SuiteOf, tmp_path: Path, key: str, value: object
) -> None:
    suite, out = suite_of(), tmp_path / "study"
    claim_folder(suite, out)
    changed = fingerprint("reach", suite.evaluation.episodes) | {key: value}
    returns = {"oracle": {"returns": [9.0, 9.0]}, "random": {"returns": [0.0, 0.0]}}
    (out / "references.json").write_text(json.dumps({"reach": {"fingerprint": changed} | returns}))
    before = (out / "suite.yaml").read_bytes()
    for asked in (suite, suite_of(seeds=[0, 1])):
        with pytest.raises(RequestError, match=rf"reach has changed since this study began \({key}\)"):
            run(asked, out)
        assert (out / "suite.yaml").read_bytes() == before


@pytest.mark.parametrize("text", ["{", "[1]", '{"reach": 3}', '{"reach": {"fingerprint": {}}}'])
def test_references_that_cannot_be_read_are_refused(suite_of: SuiteOf, tmp_path: Path, text: str) -> None:
    claim_folder(suite_of(), tmp_path / "study")
    (tmp_path / "study" / "references.json").write_text(text)
    with pytest.raises(RequestError, match="references.json: cannot be read .*; delete it to have it measured again"):
        run(suite_of(), tmp_path / "study")


@pytest.mark.parametrize("left", [[], [".suite.host-1.aside.yaml"], [".holder", "..holder.host-1.aside"]], ids=str)
def test_a_folder_in_which_a_study_was_about_to_begin_is_taken(
    suite_of: SuiteOf, tmp_path: Path, left: list[str]
) -> None:
    for name in left:
        (tmp_path / name).touch()
    with local._claimed(suite_of(), tmp_path):
        assert (tmp_path / "suite.yaml").exists()


def test_a_folder_that_holds_something_else_is_refused_and_left_alone(suite_of: SuiteOf, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RequestError, match="holds something else"):
        run(suite_of(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

from etude.curriculum.claim import claim_folder
from etude.curriculum.jobs import read_jobs
from etude.curriculum.launch import make_cluster, run_study
from etude.curriculum.launch.profile import load_profile
from etude.curriculum.runner import execute
from etude.curriculum.status import study_status
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite
from etude.envs.errors import RequestError
from etude.oracles import measure_references
from tests.curriculum.launch.loopback import loopback_slurm, missing

pytest.importorskip("submitit", reason="the extra slurm is not installed: pip install 'etude[slurm]'")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.slurm,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
    pytest.mark.timeout(900),
]

COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background jobs ignore it, and so do their tests.
from etude.curriculum.cli import main
sys.exit(main())
"""
METHOD = """
import os, signal, subprocess, time
from pathlib import Path
from etude.curriculum.methods import Method, register_method

@register_method("{name}")
class ActsOnce(Method):
    updates = 0

    def adjust_gradients(self, name, optimiser):
        self.updates += 1
        mark, job = Path(__file__).with_name(f"acted{{self.updates}}"), os.environ.get("SLURM_JOB_ID")
        if self.updates in {acts} and job and not mark.exists():
            mark.touch()
            exec({acts}[self.updates])

    def save(self, folder):
        (folder / "updates").write_text(str(self.updates))

    def load(self, folder, agent):
        self.updates = int((folder / "updates").read_text())
"""
SIGNALLED = "subprocess.run(['scancel', '--signal={}', job], check=True); time.sleep(1)"


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Slurm cluster of this machine alone, which commands find by SLURM_CONF, and which is asked every second."""
    with loopback_slurm(tmp_path_factory.mktemp("slurm")) as configuration, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(configuration))
        patch.setattr("etude.curriculum.launch.slurm.ASK_EVERY", 1.0)
        yield


@pytest.fixture(scope="module")
def references() -> str:
    """Of the small suite's tasks, measured once."""
    return json.dumps({task: measure_references(task, 2) for task in ("reach", "press-button")})


@pytest.fixture
def acting_study(
    tmp_path: Path, suite_of: Callable[..., Suite], references: str
) -> Callable[[dict[int, str]], tuple[Suite, Path]]:
    """Begins a study of one run of 8,192 steps and 512 updates, in which jobs act once where they are told to."""

    def make(acts: dict[int, str]) -> tuple[Suite, Path]:
        name = f"acts_{os.urandom(4).hex()}"
        (tmp_path / f"{name}.py").write_text(METHOD.format(name=name, acts=acts))
        parameters = {"n_steps": 16, "batch_size": 32, "n_epochs": 2}
        agent = {"algorithm": "PPO", "environments": 32, "parameters": parameters}
        changes = {"method": name, "imports": [str(tmp_path / f"{name}.py")], "agent": agent, "regimes": ["scratch"]}
        suite = suite_of(budget=8192, evaluation={"every": 8192, "episodes": 2}, **changes)
        claim_folder(suite, tmp_path / "study")
        (tmp_path / "study" / "references.json").write_text(references)
        return suite, tmp_path / "study"

    return make


def run(suite: Suite, out: Path, *changes: str) -> tuple[int, str]:
    console = Console(file=io.StringIO(), width=80)
    code = run_study(suite, out, 1, console, make_cluster(load_profile("slurm", None, changes), None))
    assert isinstance(console.file, io.StringIO)
    return code, console.file.getvalue()


def wait_until(condition: Callable[[], bool], seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def jobs_of(study: Path) -> list[str]:
    jobs = read_jobs(study)
    return [] if jobs is None else list(jobs.ids.values())


def test_a_job_that_is_signalled_is_saved_requeued_and_resumed_to_the_same_bits(
    slurm: None, acting_study: Callable[[dict[int, str]], tuple[Suite, Path]], tmp_path: Path
) -> None:
    suite, path = acting_study({100: SIGNALLED.format("USR2"), 300: SIGNALLED.format("TERM")})
    study, whole = StudyFolder(path), StudyFolder(tmp_path / "whole").run("scratch-seed0")
    done, seen, hastened = threading.Event(), set(), set()

    def look() -> None:
        while not done.wait(0.3):
            (row,) = study_status(study.path)["runs"]
            seen.add((row["state"], row["step"], (row["job"] or "").partition(": ")[2].partition(" ")[0]))
            if "begintime" in (row["job"] or "").lower() and row["step"] not in hastened:
                # Slurm lets a requeued job wait for two minutes, and needs one second: within that in which a machine
                # ended a job, it takes its next start for the one that it ended.
                hastened.add(row["step"])
                subprocess.run(["scontrol", "update", f"jobid={jobs_of(study.path)[0]}", "starttime=now+2"], check=True)

    looker = threading.Thread(target=look)
    looker.start()
    try:
        code, text = run(suite, study.path)
    finally:
        done.set()
        looker.join()
    assert code == 0, text
    assert {("pending", 2048, "pending"), ("pending", 6144, "pending")} <= seen
    assert ("running", "running") in {(state, job) for state, _, job in seen}
    (log,) = (study.path / "slurm").glob("*_0_log.out")
    assert log.read_text().count("Requeued job") == 2
    assert not jobs_of(study.path)

    claim_folder(suite, whole.study.path)
    execute(whole.path)
    resumed = study.run("scratch-seed0")
    for recorded in ("evaluations.jsonl", "training.jsonl", "policies/8192/policy.pt"):
        assert (resumed.path / recorded).read_bytes() == (whole.path / recorded).read_bytes()


def test_a_run_that_slurm_does_not_requeue_gets_another_job(
    slurm: None, acting_study: Callable[[dict[int, str]], tuple[Suite, Path]]
) -> None:
    refused = "subprocess.run(['scontrol', 'update', f'jobid={job}', 'requeue=0'], check=True)"
    suite, study = acting_study({100: f"{refused}; os.kill(os.getpid(), signal.SIGUSR2)"})
    code, text = run(suite, study)
    assert code == 0, text
    first, second = sorted((study / "slurm").glob("*_0_log.err"))
    assert "Requested operation is presently disabled" in first.read_text()
    assert "error" not in second.read_text()


def test_a_run_that_comes_to_its_time_limit_too_often_says_so(
    slurm: None, acting_study: Callable[[dict[int, str]], tuple[Suite, Path]]
) -> None:
    suite, study = acting_study({100: SIGNALLED.format("USR2")})
    code, text = run(suite, study, "minutes=5", "requeues=0")  # Of five minutes all count as its end.
    assert code == 1
    (row,) = study_status(study)["runs"]
    assert (row["state"], row["step"]) == ("failed", 2048)
    assert row["reason"].startswith(
        "press-button at step 2,048, seed 0: its job came to its time limit more often than"
    )
    assert len(list((study / "slurm").glob("*_0_log.err"))) == 1


def test_jobs_outlive_their_command_hold_the_study_and_end_as_it_says(
    slurm: None, acting_study: Callable[[dict[int, str]], tuple[Suite, Path]], tmp_path: Path
) -> None:
    suite, study = acting_study({200: "time.sleep(600)"})
    (tmp_path / "suite.yaml").write_text(suite.to_yaml())
    command = ["run", str(tmp_path / "suite.yaml"), "--on", "slurm", "--out", str(study)]
    with subprocess.Popen([sys.executable, "-c", COMMAND, *command], text=True, stdout=subprocess.PIPE) as process:
        wait_until(lambda: process.poll() is not None or (tmp_path / "acted200").exists())
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate()
    (job,) = jobs_of(study)
    assert process.returncode == 130
    assert f"Slurm jobs {job} go on without this command." in printed and f"  scancel {job} " in printed
    assert study_status(study)["runs"][0]["state"] == "running"
    with pytest.raises(RequestError, match=f"Slurm jobs {job} of .* are at work here; .* scancel {job} ends them"):
        run_study(suite, study, 1)
    subprocess.run(["scancel", job], check=True)
    wait_until(lambda: study_status(study)["runs"][0]["job"] is None)
    assert study_status(study)["runs"][0]["state"] == "pending"
    code, text = run(suite, study)
    assert code == 0 and "1 run to finish, a job each on slurm" in text


def test_a_job_that_dies_is_told_as_a_failed_run(
    slurm: None, acting_study: Callable[[dict[int, str]], tuple[Suite, Path]]
) -> None:
    suite, study = acting_study({9: "os.kill(os.getpid(), 9)"})
    code, text = run(suite, study)
    assert code == 1
    assert "1 of 1 runs did not end well" in text
    (row,) = study_status(study)["runs"]
    assert row["state"] == "failed"
    assert "Slurm job" in row["reason"] and "ended, failed (NonZeroExitCode): srun: " in row["reason"]


def test_what_slurm_does_not_take_is_refused_in_its_words(
    slurm: None, suite_of: Callable[..., Suite], tmp_path: Path
) -> None:
    with pytest.raises(RequestError, match="--on slurm: sbatch: error: invalid partition specified: nowhere"):
        run(suite_of(), tmp_path / "study", "partition=nowhere")
    assert json.loads((tmp_path / "study" / "references.json").read_text())

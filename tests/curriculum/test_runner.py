import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from etude.curriculum.claim import claim_folder
from etude.curriculum.plan import plan_run
from etude.curriculum.records import read_evaluations
from etude.curriculum.runner import execute
from etude.curriculum.saves import newest_step, write_save
from etude.curriculum.status import read_status, run_status
from etude.curriculum.study import RunFolder, StudyFolder
from etude.curriculum.suite import Suite, read_suite
from etude.envs.errors import RequestError, RunError

MakeStudy = Callable[..., StudyFolder]
SAC = {"algorithm": "SAC", "environments": 4}
SAC |= {"parameters": {"learning_starts": 16, "train_freq": 4, "batch_size": 16, "policy_kwargs": {"net_arch": [16]}}}

FAILS_ONCE = """
from pathlib import Path
from etude.curriculum.methods import Method, register_method

@register_method("fails-once")
class FailsOnce(Method):
    steps = 0

    def adjust_gradients(self, name, optimiser):
        self.steps += 1
        mark = Path(__file__).with_name("failed")
        if self.steps == {at} and not mark.exists():
            mark.touch()
            raise RuntimeError("the power went")

    def save(self, folder):
        (folder / "steps").write_text(str(self.steps))

    def load(self, folder, agent):
        self.steps = int((folder / "steps").read_text())
"""

OWN_AGENT = """
import json
import numpy as np

class Still:
    def __init__(self, observation_space, action_space, environments, parameters, seed):
        self.action = np.zeros(action_space.shape, action_space.dtype)
        self.calls = []

    @staticmethod
    def rollout_size(environments, parameters):
        if set(parameters) - {"steps"}:
            raise ValueError("takes steps alone")
        return environments * parameters["steps"]

    def begin_task(self, task, envs, budget):
        self.envs = envs
        envs.reset()
        self.calls.append(["begin", task, budget])

    def learn(self, steps):
        for _ in range(steps // self.envs.num_envs):
            self.envs.step(np.tile(self.action, (self.envs.num_envs, 1)))
        self.calls.append(["learn", steps])

    def end_task(self, task):
        self.calls.append(["end", task])

    def act(self, observations):
        return np.tile(self.action, (len(observations), 1))

    def save(self, folder):
        (folder / "calls.json").write_text(json.dumps(self.calls))

    def load(self, folder, task, envs, budget):
        self.envs = envs
        self.calls = json.loads((folder / "calls.json").read_text())

    def save_policy(self, folder):
        (folder / "policy.json").write_text("{}")

    def load_policy(self, folder):
        pass
"""


AGENTS: dict[str, dict[str, Any]] = {"PPO": {}, "SAC": {"agent": SAC}}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, suite_of: Callable[..., Suite]) -> Callable[[str], RunFolder]:
    """The sequential run of an agent's small suite, undisturbed."""
    runs: dict[str, RunFolder] = {}

    def run_whole(agent: str) -> RunFolder:
        if agent not in runs:
            study = StudyFolder(tmp_path_factory.mktemp("whole"))
            claim_folder(suite_of(**AGENTS[agent]), study.path)
            runs[agent] = study.run("sequential-seed0")
            execute(runs[agent].path)
        return runs[agent]

    return run_whole


def policy_of(run: RunFolder, step: int) -> list[torch.Tensor]:
    return list(torch.load(run.policy(step) / "policy.pt", weights_only=True).values())


def same(some: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(some, others, strict=True))


@pytest.mark.parametrize("regime", ["sequential", "scratch"])
def test_a_run_records_exactly_its_plan(make_study: MakeStudy, whole: Callable[[str], RunFolder], regime: str) -> None:
    run = whole("PPO") if regime == "sequential" else make_study().run("scratch-seed0")
    execute(run.path)
    plan = plan_run(read_suite(run.study.path), regime)
    recorded = read_evaluations(run.evaluations)
    assert [(e.step, e.task) for e in recorded] == [(c.step, task) for c in plan.checkpoints for task in c.tasks]
    assert all(len(e.returns) == 2 and e.lengths == (60, 60) for e in recorded)
    boundaries = {"0", *(str(segment.end) for segment in plan.segments)}
    assert {path.name for path in (run.path / "policies").iterdir()} == boundaries
    status = read_status(run.status)
    assert (status.state, status.step, status.of, status.task) == ("done", plan.segments[-1].end, status.step, None)
    lines = [json.loads(line) for line in run.training.read_text().splitlines()]
    assert [line["step"] for line in lines] == [c.step for c in plan.checkpoints[1:]]
    assert not run.log.exists()


def test_a_finished_run_is_left_as_it_is(make_study: MakeStudy) -> None:
    run = make_study().run("scratch-seed0")
    execute(run.path)
    before = run.evaluations.stat().st_mtime_ns
    execute(run.path)
    assert run.evaluations.stat().st_mtime_ns == before


def test_scratch_and_sequential_share_the_compositions_episodes_and_start_alike(
    make_study: MakeStudy, whole: Callable[[str], RunFolder]
) -> None:
    sequential, scratch = whole("PPO"), make_study().run("scratch-seed0")
    execute(scratch.path)
    untrained = [
        next(e for e in read_evaluations(run.evaluations) if e.step == 0 and e.task == "press-button")
        for run in (sequential, scratch)
    ]
    assert untrained[0] == untrained[1]
    assert same(policy_of(sequential, 0), policy_of(scratch, 0))


@pytest.mark.parametrize("agent", AGENTS)
def test_what_is_learnt_does_not_depend_on_when_it_is_evaluated(
    make_study: MakeStudy, whole: Callable[[str], RunFolder], agent: str
) -> None:
    run = make_study(evaluation={"every": 128, "episodes": 3}, **AGENTS[agent]).run("sequential-seed0")
    execute(run.path)
    assert same(policy_of(run, 256), policy_of(whole(agent), 256))


def test_another_seed_gives_another_run(make_study: MakeStudy, whole: Callable[[str], RunFolder]) -> None:
    run = make_study(seeds=[0, 1]).run("sequential-seed1")
    execute(run.path)
    assert not same(policy_of(run, 128), policy_of(whole("PPO"), 128))


@pytest.mark.parametrize(
    ("agent", "at", "saved"),
    [("PPO", 1, None), ("PPO", 7, 64), ("PPO", 10, 128), ("SAC", 15, 64), ("SAC", 30, 128)],
    ids=["PPO in its first rollout", "PPO within a task", "PPO after a task", "SAC within a task", "SAC after a task"],
)
def test_a_run_that_failed_goes_on_to_the_same_records(
    make_study: MakeStudy,
    whole: Callable[[str], RunFolder],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    agent: str,
    at: int,
    saved: int | None,
) -> None:
    monkeypatch.setattr("etude.curriculum.runner.SAVING_SHARE", 1.0)
    method = tmp_path / f"method{os.urandom(4).hex()}.py"
    method.write_text(FAILS_ONCE.replace("fails-once", method.stem).replace("{at}", str(at)))
    study = make_study(method=method.stem, imports=[str(method)], **AGENTS[agent])
    broken = study.run("sequential-seed0")
    with pytest.raises(RunError, match="sequential-seed0 failed: .* seed 0: RuntimeError: the power went"):
        execute(broken.path)
    status = read_status(broken.status)
    assert status.state == "failed" and status.reason is not None and "the power went" in status.reason
    assert "Traceback" in broken.log.read_text()
    assert max([int(path.name) for path in broken.save.glob("*")], default=None) == saved
    execute(broken.path)
    assert read_status(broken.status).state == "done"
    undisturbed = whole(agent)
    assert broken.evaluations.read_bytes() == undisturbed.evaluations.read_bytes()
    assert broken.training.read_bytes() == undisturbed.training.read_bytes()
    assert same(policy_of(broken, 256), policy_of(undisturbed, 256))


@pytest.mark.parametrize("agent", AGENTS)
def test_a_run_that_is_asked_to_stop_saves_between_checkpoints_and_goes_on_to_the_same_records(
    make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    monkeypatch.setattr("etude.curriculum.runner.STRETCH", 64)
    changes = {"evaluation": {"every": 256, "episodes": 2}, "budget": 512, "regimes": ["scratch"], **AGENTS[agent]}
    undisturbed, stopped = (make_study(name, **changes).run("scratch-seed0") for name in ("undisturbed", "stopped"))
    assert execute(undisturbed.path)
    steps = []
    for asked in (3, 1, 2):
        calls = iter(range(1, 100))
        assert not execute(stopped.path, stop=lambda calls=calls, asked=asked: next(calls) == asked)
        status = run_status(stopped)
        assert (status.state, status.lost) == ("pending", 0)
        assert status.reason == f"stopped and saved at step {status.step}"
        steps.append(status.step)
    assert steps == [192, 256, 384]
    assert execute(stopped.path)
    assert stopped.evaluations.read_bytes() == undisturbed.evaluations.read_bytes()
    assert stopped.training.read_bytes() == undisturbed.training.read_bytes()
    assert same(policy_of(stopped, 512), policy_of(undisturbed, 512))


def test_a_run_that_goes_on_stands_at_its_save_from_the_first_moment_on(
    make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_study().run("scratch-seed0")
    assert not execute(run.path, stop=lambda: True)
    saved, shown = newest_step(run.save), []
    monkeypatch.setattr("etude.curriculum.runner.write_status", lambda _, status: shown.append(status.step))
    execute(run.path)
    assert saved > 0 and shown[0] == saved and shown == sorted(shown)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_run_whose_method_rehearses_is_stopped_at_every_checkpoint_and_has_the_same_records(
    make_study: MakeStudy, agent: str
) -> None:
    changes = {"method": "clone", **AGENTS[agent]}
    undisturbed, stopped = (make_study(name, **changes).run("sequential-seed0") for name in ("undisturbed", "stopped"))
    assert execute(undisturbed.path)
    steps = []
    while not execute(stopped.path, stop=lambda: True):
        steps.append(read_status(stopped.status).step)
    assert steps == [64, 128, 192]
    assert stopped.evaluations.read_bytes() == undisturbed.evaluations.read_bytes()
    assert stopped.training.read_bytes() == undisturbed.training.read_bytes()
    assert same(policy_of(stopped, 256), policy_of(undisturbed, 256))


def test_a_run_that_another_machine_took_over_leaves_its_folder_to_it(
    make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("etude.curriculum.holding.BEAT", 0.02)
    monkeypatch.setattr("etude.curriculum.runner.STRETCH", 64)
    run = make_study(budget=65_536, evaluation={"every": 65_536, "episodes": 2}).run("scratch-seed0")
    other = json.dumps({"who": "process 7 on far-away", "host": "far-away"})

    def take_over() -> bool:
        (run.path / "aside").write_text(other)
        (run.path / "aside").replace(run.path / ".holder")  # At once, as holders are written.
        run.status.write_text("theirs")
        time.sleep(0.1)
        return False

    with pytest.raises(RunError, match="process 7 on far-away has taken over this run"):
        execute(run.path, stop=take_over)
    assert (run.path / ".holder").read_text() == other
    assert run.status.read_text() == "theirs"


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_records(make_study: MakeStudy) -> None:
    undisturbed, killed = (make_study(name, budget=1024).run("scratch-seed0") for name in ("undisturbed", "killed"))
    execute(undisturbed.path)
    program = (
        "import sys; from pathlib import Path; from etude.curriculum.runner import execute; execute(Path(sys.argv[1]))"
    )
    for lines in (3, 9):
        process = subprocess.Popen([sys.executable, "-c", program, str(killed.path)])
        while len(read_evaluations(killed.evaluations)) < lines:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        status = run_status(killed)
        assert status.state == "pending" and status.reason is not None and "stopped" in status.reason
    with killed.evaluations.open("ab") as record:
        record.write(b'{"step": 64, "ta')
    execute(killed.path)
    assert killed.evaluations.read_bytes() == undisturbed.evaluations.read_bytes()
    assert killed.training.read_bytes() == undisturbed.training.read_bytes()
    assert same(policy_of(killed, 1024), policy_of(undisturbed, 1024))


def test_a_run_that_leaves_the_finite_numbers_has_diverged_and_stays_so(make_study: MakeStudy) -> None:
    parameters = {"n_steps": 16, "batch_size": 32, "learning_rate": 1e30}
    study = make_study(agent={"algorithm": "PPO", "environments": 4, "parameters": parameters})
    run = study.run("sequential-seed0")
    with pytest.raises(RunError, match="diverged: reach at step"):
        execute(run.path)
    assert read_status(run.status).state == "diverged"
    before = run.evaluations.read_bytes()
    execute(run.path)
    assert run.evaluations.read_bytes() == before


IN_ITS_SECOND_TASK = """
from etude.curriculum.methods import Method, register_method

@register_method("{name}")
class InItsSecondTask(Method):
    def on_task_start(self, task, agent):
        if task == "press-button":
            envs = agent._model.env.envs
            {act}
"""
NAN_WEIGHTS = "[weights.data.fill_(float('nan')) for weights in agent._model.policy.parameters()]"
NAN_REWARDS = "step = envs.step; envs.step = lambda a: (lambda o, r, *rest: (o, r * float('nan'), *rest))(*step(a))"
DIVERGES = "envs.unwrapped.scene.batch.qvel[1, 0] = 1e12"


@pytest.mark.parametrize(
    ("act", "state", "cause"),
    [
        ("raise KeyError('gone')", "failed", "KeyError: 'gone'"),
        ("import sys; sys.exit(0)", "failed", "SystemExit: 0"),
        ("import numpy; numpy.ones(1 << 55)", "failed", "MemoryError: Unable to allocate"),
        (DIVERGES, "failed", "task press-button: environment 1 .* diverged at step 1: MuJoCo warns"),
        (NAN_WEIGHTS, "diverged", "the policy's actions are not finite numbers"),
        (NAN_REWARDS, "diverged", "train/.*loss is nan"),
    ],
    ids=["raises", "exits", "memory", "simulation", "weights", "rewards"],
)
@pytest.mark.filterwarnings("ignore")
def test_why_a_run_failed_is_told_with_task_step_and_seed(
    make_study: MakeStudy, tmp_path: Path, act: str, state: str, cause: str
) -> None:
    method = tmp_path / f"method{os.urandom(4).hex()}.py"
    method.write_text(IN_ITS_SECOND_TASK.format(name=method.stem, act=act))
    run = make_study(method=method.stem, imports=[str(method)], seeds=[5]).run("sequential-seed5")
    with pytest.raises(RunError, match=f"{state}: press-button at step 128, seed 5: {cause}"):
        execute(run.path)
    status = read_status(run.status)
    assert (status.state, status.task, status.step) == (state, "press-button", 128)
    assert "Traceback" in run.log.read_text()


def test_a_run_of_another_name_is_refused_with_the_nearest(make_study: MakeStudy) -> None:
    with pytest.raises(RequestError, match="did you mean sequential-seed0"):
        execute(make_study().run("sequential-seed5").path)


def test_a_run_is_executed_by_one_process_alone(make_study: MakeStudy) -> None:
    run = make_study().run("scratch-seed0")
    with run.held(), pytest.raises(RunError, match="another process"):
        execute(run.path)


def test_scores_so_far_are_shown_where_there_are_references(make_study: MakeStudy) -> None:
    study = make_study()
    returns = {"oracle": [50.0, 50.0], "random": [1.0, 1.0], "zero": [0.0, 0.0]}
    entry = {"fingerprint": {"task": "reach"}} | {k: {"returns": v} for k, v in returns.items()}
    study.references.write_text(json.dumps({"reach": entry}))
    run = study.run("sequential-seed0")
    execute(run.path)
    last = [e for e in read_evaluations(run.evaluations) if e.task == "reach"][-1]
    assert read_status(run.status).scores == {"reach": pytest.approx(100 * (np.mean(last.returns) - 1) / 49)}


def test_an_agent_of_ones_own_is_run_by_the_same_protocol(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_agent.py").write_text(OWN_AGENT)
    monkeypatch.syspath_prepend(tmp_path)
    agent = {"algorithm": "own_agent:Still", "environments": 4, "parameters": {"steps": 16}}
    study = make_study(agent=agent)
    run = study.run("sequential-seed0")
    execute(run.path)
    curves = {(e.step, e.task): e.returns for e in read_evaluations(run.evaluations)}
    assert all(returns == curves[0, task] for (_, task), returns in curves.items()), "a policy that stays is flat"
    (calls,) = run.save.glob("256/agent/calls.json")
    one_task = [["learn", 64], ["learn", 64]]
    assert json.loads(calls.read_text()) == [
        *(["begin", "reach", 128], *one_task, ["end", "reach"]),
        *(["begin", "press-button", 128], *one_task, ["end", "press-button"]),
    ]


def test_a_statistic_may_be_a_number_of_numpys_and_one_that_is_none_is_named(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = "\n    def statistics(self):\n        return {'loss': np.float32(0.5), 'worst': np.float64('inf')%s}\n"
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "numpy_agent.py").write_text(OWN_AGENT + more % "")
    (tmp_path / "vector_agent.py").write_text(OWN_AGENT + more % ", 'all': np.ones(3)")
    agent = {"algorithm": "numpy_agent:Still", "environments": 4, "parameters": {"steps": 16}}
    run = make_study("numpy", agent=agent).run("scratch-seed0")
    execute(run.path)
    line = json.loads(run.training.read_text().splitlines()[0])
    assert (line["loss"], line["worst"]) == (0.5, None)
    run = make_study("vector", agent=agent | {"algorithm": "vector_agent:Still"}).run("scratch-seed0")
    with pytest.raises(RunError, match=r"statistics\(\): all is array.*, not a number"):
        execute(run.path)


@pytest.fixture
def stopped(make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """The small sequential run, stopped after its second save, at step 128."""
    monkeypatch.setattr("etude.curriculum.runner.SAVING_SHARE", 1.0)
    method = tmp_path / f"method{os.urandom(4).hex()}.py"
    method.write_text(FAILS_ONCE.replace("fails-once", method.stem).replace("{at}", "10"))
    run = make_study("stopped", method=method.stem, imports=[str(method)]).run("sequential-seed0")
    with pytest.raises(RunError):
        execute(run.path)
    assert {path.name for path in run.save.iterdir()} == {"64", "128"}
    return run


@pytest.mark.parametrize("damaged", [[128], [64, 128]], ids=["the newest", "all"])
def test_a_damaged_save_costs_its_time_alone(
    stopped: RunFolder, whole: Callable[[str], RunFolder], damaged: list[int]
) -> None:
    for step in damaged:
        with (stopped.save / str(step) / "agent" / "agent.pt").open("r+b") as weights:
            weights.seek(1000)
            weights.write(b"x")
    goes_on = "goes on from the save of step 64" if damaged == [128] else "starts again from nothing"
    with pytest.warns(UserWarning, match=rf"save/128 is damaged \(agent/agent.pt is not as .*; it {goes_on}"):
        execute(stopped.path)
    undisturbed = whole("PPO")
    assert stopped.evaluations.read_bytes() == undisturbed.evaluations.read_bytes()
    assert stopped.training.read_bytes() == undisturbed.training.read_bytes()
    assert same(policy_of(stopped, 256), policy_of(undisturbed, 256))


def test_a_save_that_is_whole_but_not_understood_is_named_with_the_way_out(stopped: RunFolder) -> None:
    save = stopped.save / "256"
    write_save(stopped.save, 256, lambda folder: (folder / "run.json").write_text("{}") and None)
    with pytest.raises(RunError, match=f"{save}/run.json: cannot be read .*; delete {stopped.save} to start this run"):
        execute(stopped.path)


def test_a_garbled_line_of_statistics_is_left_out(make_study: MakeStudy) -> None:
    run = make_study().run("scratch-seed0")
    run.path.mkdir(parents=True)
    run.training.write_bytes(b"\xff garbage\n[]\n")
    execute(run.path)
    assert [json.loads(line)["step"] for line in run.training.read_text().splitlines()] == [64, 128]


def test_a_full_disk_is_told_with_the_path_and_that_the_run_goes_on(
    make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_study().run("scratch-seed0")
    run.path.mkdir(parents=True)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched, pytest.raises(RunError, match="No space left") as caught:
        patched.setattr(os, "fsync", full)
        execute(run.path)
    told = f"{run.evaluations.with_suffix('.aside')}: No space left on device; the same command goes on"
    assert str(caught.value).endswith(told)
    execute(run.path)
    assert read_status(run.status).state == "done"

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import gymnasium
import numpy as np
import pytest
from PIL import Image

from etude.curriculum import cli
from etude.curriculum.pictures import Sheet
from etude.curriculum.records import read_evaluations
from etude.curriculum.runner import execute
from etude.curriculum.study import RunFolder, StudyFolder
from etude.curriculum.watch import Moment, Watch, write_episodes
from etude.envs import RequestError, RunError, get_task, register_task, registry
from etude.envs.tabletop.reach import Reach
from etude.oracles import measure_references, register_floor, register_oracle, score
from etude.oracles.tabletop.reach import ReachOracle

HORIZON = 4


class BriefReach(Reach):
    """Reach, for a moment."""

    id = "brief-reach"
    horizon = HORIZON


class BriefOracle(ReachOracle):
    """The same way."""

    task = "brief-reach"


class FailingOracle(ReachOracle):
    """Breaks on its second step."""

    task = "brief-reach"

    def act(self, privileged: dict[str, Any]) -> Any:
        if privileged["elapsed"][0]:
            raise ValueError("no\nidea")
        return super().act(privileged)


@pytest.fixture
def brief() -> Iterator[str]:
    """A task of four steps, without an oracle."""
    spec = register_task(BriefReach)
    yield spec.id
    del gymnasium.registry[spec.gymnasium_id]


@pytest.fixture
def run(make_study: Callable[..., StudyFolder]) -> RunFolder:
    """A trained run, its study's references beside it."""
    study = make_study()
    done = study.run("sequential-seed0")
    execute(done.path)
    study.references.write_text(json.dumps({task: measure_references(task, 2) for task in ("reach", "press-button")}))
    return done


def written(watch: Watch, path: Path, **layout: int) -> list[Moment]:
    """The ends of the episodes in the file; skipped on a machine that cannot draw."""
    try:
        return write_episodes(watch, path, Sheet(**layout))
    except RunError as error:
        if not str(error).startswith("cannot draw"):
            raise
        pytest.skip(str(error))
    finally:
        watch.close()


def played(watch: Watch) -> list[Moment]:
    moments = list(watch.play())
    watch.close()
    return moments


def refused(capsys: pytest.CaptureFixture[str], arguments: list[str], code: int = 2) -> str:
    assert cli.main(["watch", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    return captured.err


def test_a_video_shows_what_moves_at_every_step(brief: str, tmp_path: Path) -> None:
    register_oracle(BriefOracle)
    written(Watch(brief, "oracle"), tmp_path / "a.mp4")
    with av.open(str(tmp_path / "a.mp4")) as video:
        frames = [frame.to_ndarray(format="rgb24")[:480].astype(int) for frame in video.decode(video=0)]
    assert len(frames) == HORIZON + 25
    for before, after in zip(frames[:HORIZON], frames[1:], strict=False):
        assert (abs(after - before) > 50).any()
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


def test_an_animation_shows_every_second_step(brief: str, tmp_path: Path) -> None:
    register_oracle(BriefOracle)
    (end,) = written(Watch(brief, "oracle"), tmp_path / "a.gif")
    assert end.step == HORIZON
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == HORIZON // 2 + 1  # type: ignore[attr-defined]
        frames = []
        for i in range(HORIZON // 2 + 1):
            image.seek(i)
            frames.append(np.asarray(image.convert("RGB")).astype(int)[:240])
    assert all((abs(after - before) > 50).any() for before, after in zip(frames, frames[1:], strict=False))


def test_a_contact_sheet_is_the_same_each_time_and_of_other_starts_another(brief: str, tmp_path: Path) -> None:
    for name, seed in (("a", None), ("b", None), ("c", 3)):
        ends = written(Watch(brief, "zero", 1, seed), tmp_path / f"{name}.png", moments=2, columns=2, width=100)
        assert [(end.episode, end.step, end.last) for end in ends] == [(0, HORIZON, True)]
    a, b, c = (np.asarray(Image.open(tmp_path / f"{name}.png")) for name in "abc")
    assert a.shape[1] == 204
    assert np.array_equal(a, b) and not np.array_equal(a, c)


@pytest.mark.parametrize("policy", ["oracle", "random", "zero"])
def test_the_return_of_an_episode_is_that_of_the_references(brief: str, policy: str) -> None:
    register_oracle(BriefOracle)
    moments = played(Watch(brief, policy, 3, render_mode=None))
    reference = measure_references(brief, 3)
    ends = [moment for moment in moments if moment.last]
    assert [end.earned for end in ends] == reference[policy]["returns"]
    assert [moment.step for moment in moments] == [*range(HORIZON + 1)] * 3


def test_the_score_grows_from_nothing_to_the_episodes_own() -> None:
    moments = played(Watch("reach", "oracle", render_mode=None))
    scores = [moment.score for moment in moments if moment.score is not None]
    assert scores[0] == 0 and len(scores) == len(moments)
    assert moments[-1].score == score(moments[-1].earned, measure_references("reach", 20))
    assert abs(scores[-1] - scores[-2]) < 5


def test_a_task_without_an_oracle_shows_its_return(brief: str) -> None:
    watch = Watch(brief, "random", render_mode=None)
    end = played(watch)[-1]
    assert end.score is None and end.tally == f"return {end.earned:.2f}"
    assert watch.measured.startswith("no score: task 'brief-reach': has no oracle")


def test_what_is_measured_names_the_tasks_own_floor_where_it_has_one(brief: str) -> None:
    register_oracle(BriefOracle)
    assert ", 0 the better of random and zero actions, over" in Watch(brief, "zero", render_mode=None).measured
    register_floor(type("BriefFloor", (FailingOracle,), {"act": lambda self, privileged: np.zeros((self.size, 4))}))
    told = Watch(brief, "zero", render_mode=None).measured
    assert ", 0 the best of random and zero actions and its own floor, over" in told


def test_a_runs_policies_play_to_the_bit_what_the_run_recorded(run: RunFolder) -> None:
    records = {(e.step, e.task): e.returns for e in read_evaluations(run.evaluations)}
    for task in ("reach", "press-button"):
        for policy, step in ((run.path, 256), (run.policy(0), 0), (run.policy(128), 128)):
            watch = Watch(task, str(policy), 2, render_mode=None)
            assert watch.title == f"{task}, sequential-seed0 at step {step}"
            ends = [moment for moment in played(watch) if moment.last]
            assert tuple(end.earned for end in ends) == records[step, task]


def test_a_runs_scores_are_those_of_its_study(run: RunFolder) -> None:
    references = json.loads(run.study.references.read_text())
    watch = Watch("reach", str(run.path), 2, render_mode=None)
    ends = [moment for moment in played(watch) if moment.last]
    assert [end.score for end in ends] == [score(end.earned, references["reach"]) for end in ends]
    assert watch.measured.endswith("as the study has measured them")
    references["reach"]["fingerprint"]["sources"] = "other"
    run.study.references.write_text(json.dumps(references))
    changed = Watch("reach", str(run.path), render_mode=None)
    changed.close()
    assert changed.measured.endswith("before the task or its oracle was changed")


def test_a_run_that_cannot_be_watched_is_told_in_one_line(
    run: RunFolder, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = ["--out", str(tmp_path / "a.png"), "--policy"]
    study = str(run.study.path)
    assert "a study; take one of its runs, such as" in refused(capsys, ["reach", *out, study])
    assert "not a run's folder" in refused(capsys, ["reach", *out, f"{study}/runs"])
    assert "not one of" in refused(capsys, ["lift", *out, str(run.path)])
    assert "the run has stored 0, 128, 256" in refused(capsys, ["reach", *out, str(run.policy(7))])
    (run.policy(256) / "policy.pt").write_bytes(b"torn")
    assert "policies/256: cannot be read" in refused(capsys, ["reach", *out, str(run.path)], code=1)
    assert not (tmp_path / "a.png").exists()


def test_a_pickled_policy_of_another_is_refused_with_what_it_would_do(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "model.zip").touch()
    told = refused(capsys, ["reach", "--out", str(tmp_path / "a.png"), "--policy", str(tmp_path / "model.zip")])
    assert "model.zip': is pickled, as Stable-Baselines3 saves: it would run code; not loaded" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reach"], "takes either --out FILE, such as --out reach.mp4, or --live"),
        (["reach", "--out", "a.png", "--live"], "takes either --out FILE"),
        (["reach", "--out", "a.avi"], "a.avi: its ending says what to make of it; take .mp4, .gif, .png, .jpg"),
        (["reach", "--out", "nowhere/a.png"], "nowhere/a.png: there is no folder nowhere; make it first"),
        (
            ["reach", "--out", "bare_of_tasks.py/a.png"],
            "/a.png: bare_of_tasks.py is a file, not a folder; name another place",
        ),
        (
            ["raech", "--out", "a.png", "--import", "bare_of_tasks.py"],
            "reach?; --import bare_of_tasks.py registers no task",
        ),
        (["reach", "--out", "a.png", "--suite", "nowhere.yaml"], "nowhere.yaml"),
        (["reach", "--out", f"{'a' * 249}.png"], "a.png: cannot be written (File name too long); name another"),
        (["reach", "--out", "folder.png"], "folder.png: is a folder; name a file"),
        (["raech", "--out", "a.png"], "unknown task 'raech'; did you mean reach"),
        (["reach", "--out", "a.png", "--policy", "orcale"], "'orcale': no run's folder, nor one of oracle, random"),
        (["reach", "--out", "a.png", "--episodes", "0"], "greater than or equal to 1"),
    ],
)
def test_a_wrong_request_is_one_line_and_writes_nothing(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "bare_of_tasks.py").touch()
    assert message in refused(capsys, arguments)
    assert {path.name for path in tmp_path.iterdir()} == {"folder.png", "bare_of_tasks.py"}


def test_an_episode_that_breaks_leaves_the_old_file_and_no_other(
    brief: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    register_oracle(FailingOracle)
    (tmp_path / "a.png").write_text("old")
    assert cli.main(["watch", brief, "--out", str(tmp_path / "a.png")]) == 1
    assert capsys.readouterr().err.startswith("etude: oracle of brief-reach raised ValueError: no idea")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_live_without_a_screen_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert "this machine has no screen (DISPLAY is not set)" in refused(capsys, ["reach", "--live"], code=1)


def test_a_machine_that_cannot_draw_is_told_what_to_install(tmp_path: Path) -> None:
    environment = os.environ | {"MUJOCO_GL": "egl", "PYOPENGL_PLATFORM": "glx"}
    program = "import sys; from etude.curriculum.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "watch", "reach", "--policy", "zero", "--out", str(tmp_path / "a.png")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    for word in ("libegl1", "libegl-mesa0", "libgl1-mesa-dri", "MUJOCO_GL"):
        assert word in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_machine_where_mujoco_cannot_be_imported_is_told_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(RunError, match="libegl1, libegl-mesa0, libgl1-mesa-dri"):
        Watch("reach", "zero")


def pendulum(number: int, *, autoreset_mode: Any = "NextStep", threads: int = 1, **options: Any) -> Any:
    return gymnasium.make_vec(
        "InvertedPendulum-v5",
        number,
        "sync",
        vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode(autoreset_mode)},
        **options,
    )


def foreign(monkeypatch: pytest.MonkeyPatch, make: Callable[..., Any]) -> str:
    monkeypatch.setitem(registry._specs, "swing", replace(get_task("reach"), id="swing", make_vector=make))
    return "swing"


def test_a_task_of_another_simulation_is_drawn_at_its_own_pace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    watch = Watch(foreign(monkeypatch, pendulum), "random", 2)
    assert watch.rate == 25
    (first, second) = written(watch, tmp_path / "a.png", moments=2, columns=2, width=60)
    assert 0 < first.step < 60 and first.score is None and not first.success
    assert second.episode == 1
    with Image.open(tmp_path / "a.png") as image:
        assert image.width == 124


def test_a_task_without_pictures_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Blind(gymnasium.vector.VectorWrapper[Any, Any, Any, Any, Any]):
        def render(self) -> None:
            return None

    def blind(number: int, **options: Any) -> Any:
        return Blind(pendulum(number, **options))

    def choosy(number: int, **options: Any) -> Any:
        raise TypeError("render_mode?")

    watch = Watch(foreign(monkeypatch, blind), "zero")
    with pytest.raises(RequestError, match="'swing': its environment gives no pictures in render_mode rgb_array"):
        written(watch, tmp_path / "a.png")
    with pytest.raises(RequestError, match="task swing: its environment cannot be made: TypeError: render_mode."):
        Watch(foreign(monkeypatch, choosy), "zero")

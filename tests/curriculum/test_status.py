import json
from collections.abc import Callable
from pathlib import Path

from etude.curriculum.status import Status, read_status, run_status, study_status, write_status
from etude.curriculum.study import StudyFolder


def test_a_status_reads_back_as_it_was_written(tmp_path: Path) -> None:
    status = Status("running", "reach", 2048, 4096, {"reach": 12.5}, 900.0, {"learning": 2.0}, None)
    write_status(tmp_path / "status.json", status)
    assert read_status(tmp_path / "status.json") == status


def test_a_run_without_a_readable_status_is_pending(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    assert read_status(path) == Status()
    for text in ("", "{", "[]", '{"state": "lost"}', '{"state": "done", "colour": 3}'):
        path.write_text(text)
        status = read_status(path)
        assert (status.state, status.reason) == ("pending", "status.json cannot be read; the same command goes on")


def test_a_run_with_a_record_and_no_status_says_so(tmp_path: Path) -> None:
    (tmp_path / "evaluations.jsonl").write_text("")
    assert read_status(tmp_path / "status.json").reason == "status.json cannot be read; the same command goes on"


def test_a_run_whose_process_is_gone_is_pending_and_says_so(make_study: Callable[..., StudyFolder]) -> None:
    run = make_study().run("scratch-seed0")
    with run.held():
        write_status(run.status, Status("running", "press-button", 64, 128, speed=9.0))
        assert run_status(run).state == "running"
    status = run_status(run)
    assert (status.state, status.step, status.speed) == ("pending", 0, None)
    assert (status.reason, status.lost) == ("stopped at step 64; goes on from the beginning", 64)
    (run.save / "32").mkdir(parents=True)
    assert (run_status(run).step, run_status(run).lost) == (32, 32)
    assert run_status(run).reason == "stopped at step 64; goes on from the save of step 32"
    (run.save / "64").mkdir()
    assert (run_status(run).step, run_status(run).reason) == (64, "stopped; the same command goes on")
    assert run_status(run).lost == 0


def test_the_status_of_a_study_is_a_row_a_run(make_study: Callable[..., StudyFolder]) -> None:
    study = make_study(seeds=[0, 7])
    run = study.run("scratch-seed7")
    run.path.mkdir(parents=True)
    write_status(run.status, Status("failed", "press-button", 64, 128, reason="press-button at step 64: out of memory"))
    found = study_status(study.path)
    assert json.loads(json.dumps(found)) == found
    names = ["sequential-seed0", "sequential-seed7", "scratch-seed0", "scratch-seed7"]
    assert [row["run"] for row in found["runs"]] == names
    assert [row["steps"] for row in found["runs"]] == [256, 256, 128, 128]
    assert [row["state"] for row in found["runs"]] == ["pending", "pending", "pending", "failed"]
    assert found["runs"][3]["reason"] == "press-button at step 64: out of memory"

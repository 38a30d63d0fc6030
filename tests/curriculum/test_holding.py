import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from etude.curriculum.holding import STALE, hold, holder

HOLDS = """
import sys; from pathlib import Path; from etude.curriculum.holding import hold
with hold(Path(sys.argv[1])) as got:
    print(got is not None, flush=True)
    sys.stdin.read()
"""


def from_another_machine(folder: Path, seconds_ago: float) -> Path:
    path = folder / ".holder"
    path.write_text(json.dumps({"who": "process 7 on far-away", "host": "far-away", "since": 1}))
    os.utime(path, (time.time() - seconds_ago,) * 2)
    return path


def test_a_folder_is_held_until_its_holder_is_done(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    with hold(tmp_path) as held:
        assert held is not None
        assert holder(tmp_path) == f"process {os.getpid()} on {os.uname().nodename}"
        with hold(tmp_path) as second:
            assert second is None
    assert holder(tmp_path) is None and not list(tmp_path.iterdir())


def test_whoever_looks_keeps_nobody_from_holding(tmp_path: Path) -> None:
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            holder(tmp_path)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(200):
            with hold(tmp_path) as got:
                assert got
    finally:
        stop.set()
        looking.join()


def test_a_folder_whose_holder_was_killed_is_free_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "True\n"
        assert holder(tmp_path) == f"process {process.pid} on {os.uname().nodename}"
        process.kill()
    assert (tmp_path / ".holder").exists() and holder(tmp_path) is None
    with hold(tmp_path) as held:
        assert held is not None


def test_a_holder_on_another_machine_holds_as_long_as_it_touches_its_file(tmp_path: Path) -> None:
    from_another_machine(tmp_path, seconds_ago=STALE / 2)
    assert holder(tmp_path) == "process 7 on far-away"
    with hold(tmp_path) as held:
        assert held is None
    from_another_machine(tmp_path, seconds_ago=-STALE / 2)  # Its clock may be a little ahead.
    assert holder(tmp_path) == "process 7 on far-away"
    from_another_machine(tmp_path, seconds_ago=-86_400)  # The clock was set back since it died.
    assert holder(tmp_path) is None
    from_another_machine(tmp_path, seconds_ago=STALE + 5)
    assert holder(tmp_path) is None
    with hold(tmp_path) as held:
        assert held is not None
        assert str(holder(tmp_path)).startswith(f"process {os.getpid()} ")


def test_one_who_is_patient_waits_until_the_other_machine_is_silent_long_enough(tmp_path: Path) -> None:
    from_another_machine(tmp_path, seconds_ago=STALE - 0.5)
    with hold(tmp_path, patience=0.1) as held:
        assert held is None
    with hold(tmp_path, patience=30) as held:
        assert held is not None


def test_a_holder_keeps_touching_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("etude.curriculum.holding.BEAT", 0.02)
    with hold(tmp_path):
        os.utime(tmp_path / ".holder", (0, 0))
        time.sleep(0.3)
        assert time.time() - (tmp_path / ".holder").stat().st_mtime < 10


def test_a_slurm_job_names_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "44")
    with hold(tmp_path):
        assert str(holder(tmp_path)).endswith(", Slurm job 44")


def test_half_a_holders_file_says_no_more_than_that_someone_is_there(tmp_path: Path) -> None:
    with hold(tmp_path):
        (tmp_path / ".holder").write_text("{")
        assert holder(tmp_path) == "another process"
    assert holder(tmp_path) is None

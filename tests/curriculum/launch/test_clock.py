"""A study whose machine's clock is wrong, for which libfaketime stands: Debian's package faketime."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from etude.curriculum.claim import claim_folder
from etude.curriculum.runner import execute
from etude.curriculum.status import study_status
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import load_suite

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("faketime") is None, reason="faketime not installed: apt-get install faketime"),
]
DAY = 86_400

GOES_ON = """
import json, sys, time
from pathlib import Path
from etude.curriculum.holding import holder
from etude.curriculum.runner import execute
from etude.curriculum.status import study_status

clock, run = map(Path, sys.argv[1:])
changes = ["+3652d", "-1d", "+0"]

def look():
    (row,) = (row for row in study_status(run.parents[1])["runs"] if row["run"] == run.name)
    print(json.dumps([time.time(), row["state"], row["step"], holder(run)]), flush=True)
    clock.write_text(changes.pop(0))
    return False

execute(run, look)
"""


def test_a_run_goes_on_to_the_same_bytes_while_the_clock_goes_back_a_day_and_forward_ten_years(
    faults: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "suite").mkdir()
    suite = load_suite(str(faults.write_suite(tmp_path / "suite", "PPO")), ["regimes=[sequential]"])
    study, whole = (StudyFolder(tmp_path / name) for name in ("study", "whole"))
    for folder in (study, whole):
        claim_folder(suite, folder.path)
        run = folder.run("sequential-seed0")
        assert execute(run.path, stop=lambda folder=folder: folder is study) is (folder is whole)  # type: ignore[misc]
    run = study.run("sequential-seed0")
    # From a machine whose clock was right: of a time to come, and so of one that has died.
    (run.path / ".holder").write_text(json.dumps({"who": "process 7 on far-away", "host": "far-away", "since": 1}))

    library = subprocess.run(["faketime", "-m", "-f", "+0", "printenv", "LD_PRELOAD"], capture_output=True, text=True)
    environment = os.environ | {
        "LD_PRELOAD": library.stdout.strip(),
        "FAKETIME_TIMESTAMP_FILE": str(tmp_path / "clock"),
    }
    environment |= {"FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
    (tmp_path / "clock").write_text("-1d")
    command = [sys.executable, "-c", GOES_ON, str(tmp_path / "clock"), str(run.path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    now = (run.path / "status.json").stat().st_mtime
    (a_day_back, *first), (ten_years_on, *second), (and_back, *third) = map(json.loads, done.stdout.splitlines())
    assert now - a_day_back == pytest.approx(DAY, abs=300) == now - and_back
    assert ten_years_on - now == pytest.approx(3652 * DAY, abs=300)
    assert [row[:2] for row in (first, second, third)] == [["running", 64], ["running", 96], ["running", 128]]
    assert all(who.startswith("process ") and "far-away" not in who for _, _, who in (first, second, third))
    assert [row["state"] for row in study_status(study.path)["runs"]] == ["done"]
    assert faults.contents(study.path) == faults.contents(whole.path)

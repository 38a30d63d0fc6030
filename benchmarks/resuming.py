"""What it costs to go on: from giving a killed study's command again to the first steps past its save.

python benchmarks/resuming.py [times, 3 if not given]

It is the time that a new process takes to import, to measure the estimate and to load, beside the work since the save,
which is none here: the command is killed as soon as there is a newer save.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from etude.curriculum.saves import newest_step
from etude.curriculum.status import read_status
from etude.curriculum.study import RunFolder, StudyFolder

COMMAND = ["run", "quick", "seeds=[0]", "regimes=[sequential]", "evaluation.every=10_240", "wandb.mode=disabled"]


def begin(study: Path) -> subprocess.Popen[bytes]:
    """Give the command, in a process group of its own."""
    program = "import sys; from etude.curriculum.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, *COMMAND, f"--out={study}"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)


def kill_past(process: subprocess.Popen[bytes], run: RunFolder, step: int) -> None:
    """Kill it once there is a save past a step."""
    while newest_step(run.save) <= step:
        assert process.poll() is None, "the command ended by itself"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main() -> None:
    times = int(sys.argv[1]) if sys.argv[1:] else 3
    with tempfile.TemporaryDirectory() as folder:
        run = StudyFolder(Path(folder)).run("sequential-seed0")
        kill_past(begin(Path(folder)), run, 0)
        for _ in range(times):
            saved, given = newest_step(run.save), time.time()
            began, process = time.perf_counter(), begin(Path(folder))
            while run.status.stat().st_mtime < given or read_status(run.status).step <= saved:
                time.sleep(0.01)
            print(f"past step {saved:,} again after {time.perf_counter() - began:.1f} s", flush=True)
            kill_past(process, run, saved)


if __name__ == "__main__":
    main()

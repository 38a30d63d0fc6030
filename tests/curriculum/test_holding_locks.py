import signal
import subprocess
import sys
import threading
from pathlib import Path

from etude.curriculum.holding import hold, holder

HOLDS = """
import sys, time
from pathlib import Path
from etude.curriculum.holding import hold
with hold(Path(sys.argv[1])) as got:
    print(got is not None, flush=True)
    time.sleep(60)
"""


def test_a_folder_is_held_by_one_alone(tmp_path: Path) -> None:
    assert not holder(tmp_path)
    with hold(tmp_path) as first, hold(tmp_path) as second:
        assert first and second is None and holder(tmp_path)
    assert not holder(tmp_path)


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


def test_a_killed_process_holds_nothing_any_more(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "True\n" and holder(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with hold(tmp_path) as got:
        assert got

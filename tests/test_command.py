import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

STOPPED_WHILE_IMPORTING = """
import os, signal, sys, etude_command

signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background jobs ignore it, and so do their tests.

class Stop:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Stop())
sys.argv = ["etude", "run", "smoke"]
sys.exit(etude_command.main())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", ["etude", "torch"])
def test_it_can_be_stopped_while_it_still_imports(tmp_path: Path, number: signal.Signals, module: str) -> None:
    program = STOPPED_WHILE_IMPORTING.format(module=module, number=int(number))
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "etude: interrupted\n")


def test_what_the_outputs_encoding_lacks_is_no_failure() -> None:
    program = "import sys, etude_command; sys.argv = ['etude', 'tasks']; sys.exit(etude_command.main())"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"?" in done.stdout and done.stdout.isascii()


def test_a_closed_output_is_no_failure() -> None:
    program = "import sys, etude_command; sys.argv = ['etude', 'tasks']; sys.exit(etude_command.main())"
    closed = ["bash", "-c", '"$@" >&-', "bash", sys.executable, "-c", program]
    done = subprocess.run(closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")

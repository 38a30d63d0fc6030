"""The pool's own promises; its work is shown by the launcher's tests."""

import subprocess
from typing import Any

import pytest

from etude.curriculum.launch.pool import Pool
from etude.envs.errors import RunError


def test_where_a_worker_cannot_be_started_those_that_were_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []
    real = subprocess.Popen

    def second_fails(*args: Any, **kwargs: Any) -> subprocess.Popen[str]:
        if started:
            raise KeyboardInterrupt
        started.append(real(*args, **kwargs))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", second_fails)
    with pytest.raises(KeyboardInterrupt), Pool(2):
        raise AssertionError("the pool was entered with one worker of two")
    (first,) = started
    assert first.returncode is not None
    assert first.stdin is not None
    assert first.stdin.closed


@pytest.mark.slow
def test_a_failure_in_a_worker_is_told_with_its_kind_and_where_it_was() -> None:
    with Pool(1) as pool, pytest.raises(RunError, match="^KeyError: 'imports'") as caught:
        pool.ask_each([{"references": {}}])
    assert "worker.py" in caught.value.__notes__[0]

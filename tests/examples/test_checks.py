"""Every example passes `etude check`."""

from importlib import import_module
from pathlib import Path

import pytest

from etude.envs.checks import CHECKS, Subject, run_checks
from etude.oracles.checks import ORACLE_CHECKS

TASKS = {
    "slide-knob": "slide_knob",
    "knob-then-button": "knob_then_button",
    "balance": "balance",
    "balance-pushed": "balance",
    "hover-cube": "etude_hover",
}


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_an_example_passes_every_check_that_applies(task: str, examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(examples / "package")
    import_module(TASKS[task])
    folders = [str(examples), str(examples / "package")]
    prelude = f"import sys; sys.path += {folders}; import {TASKS[task]}"
    for finding in run_checks(Subject(task, prelude=prelude, episodes=32), CHECKS + ORACLE_CHECKS):
        assert finding.outcome != "failed", finding
        assert finding.outcome == "passed" or task.startswith("balance"), finding

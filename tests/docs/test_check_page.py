"""The page on checking a task names every check, and its code runs."""

import re
from pathlib import Path

import pytest

from etude.envs.checks import CHECKS
from etude.envs.checks.simulator import SLOWEST
from etude.oracles.checks import FAILING, ORACLE_CHECKS, SUCCESS, VARIATION

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")


def test_the_page_names_every_check_in_the_order_of_the_command() -> None:
    named = re.findall(r"^\| ([^|]+?) \| [^|]+ \|$", PAGE, re.MULTILINE)
    assert named[:1] == ["check"] and named[1:] == [check.name for check in CHECKS + ORACLE_CHECKS]


def test_the_pages_bars_are_the_checks() -> None:
    for bar in (
        f"at least {SLOWEST} steps",
        f"at least {SUCCESS:.0%}",
        f"at most {VARIATION:.0%}",
        f"at most {FAILING:.0%}",
    ):
        assert bar in PAGE


@pytest.mark.slow
def test_the_pages_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    out = capsys.readouterr().out
    assert out.count("passed ") == len(CHECKS + ORACLE_CHECKS) and "failed" not in out

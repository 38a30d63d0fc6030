"""What `etude run` says of a task or an oracle that is broken, with workers of its own as users run it."""

import re
import sys
from pathlib import Path

import pytest
import yaml

from etude.curriculum.cli import main
from tests.curriculum.conftest import SMALL

TASK = """
import numpy as np
from etude import register_oracle, register_task
from etude.envs.tabletop.reach import Reach
from etude.oracles.tabletop.reach import ReachOracle

class Near(Reach):
    "Reach, by another name."
    id, horizon = "near", 12
{task}

class NearOracle(ReachOracle):
    "As that of reach, unless it is broken."
    task = "near"
{oracle}

register_task(Near)
register_oracle(NearOracle)
"""

LATE = """
    def reward(self, scene):
        self.calls = getattr(self, "calls", 0) + 1
        late = scene.size == 4 and self.calls > 20  # in the third episode of those that are trained on
        if late:
            {breaks}
        return super().reward(scene)
"""
STILL = "    def act(self, privileged): return np.zeros((self.size, 4))"
NARROW = "    def act(self, privileged): return np.zeros((self.size, 3))"
WHERE = r"seed \d+, episode 3 of that seed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "oracle", "code", "told"),
    [
        ("", STILL, 2, "^etude: task 'near': no score, since its oracle's mean return, .* by enough to divide by$"),
        ("", NARROW, 2, r"^etude: task 'near': its oracle NearOracle gave actions of shape \(2, 3\); the action space"),
        (
            LATE.format(breaks="1 / 0"),
            "",
            1,
            rf"scratch-seed0 failed: .* task near: reward raised ZeroDivisionError: .*{WHERE}, step \d+",
        ),
        (
            LATE.format(breaks="return np.full(4, np.nan)"),
            "",
            1,
            rf"scratch-seed0 failed: .* task near: .*{WHERE}.* the reward nan at step \d+",
        ),
    ],
    ids=["margin", "narrow", "raises", "nan"],
)
def test_a_broken_task_or_oracle_ends_a_study_with_a_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    task: str,
    oracle: str,
    code: int,
    told: str,
) -> None:
    (tmp_path / "broken_near.py").write_text(TASK.format(task=task, oracle=oracle))
    suite = SMALL | {"tasks": ["near"], "regimes": ["scratch"], "imports": ["broken_near.py"]}
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(suite))
    try:
        assert main(["run", str(tmp_path / "suite.yaml"), "--out", str(tmp_path / "study"), "--jobs=1"]) == code
    finally:
        sys.modules.pop("broken_near", None)
    captured = capsys.readouterr()
    assert captured.err.count("\n") == (code == 2) and "Traceback" not in captured.out
    said = captured.err if code == 2 else " ".join(captured.out.split())
    assert re.search(told, said), said
    assert (tmp_path / "study" / "references.json").exists() == (code == 1)

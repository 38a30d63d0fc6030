import json
from pathlib import Path
from typing import Any

import pytest

from etude.curriculum.records import Evaluation, append_evaluations, read_evaluations
from etude.envs.errors import RequestError

WHOLE = {"step": 64, "task": "reach", "returns": [1.5, 2], "successes": [True, False], "lengths": [60, 60]}


def test_a_record_reads_back_as_it_was_written(tmp_path: Path) -> None:
    evaluation = Evaluation(64, "reach", (1.5, 2.0), (True, False), (60, 60))
    append_evaluations(tmp_path / "record", [evaluation, evaluation])
    assert read_evaluations(tmp_path / "record") == [evaluation] * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 1.5}, "step must be a whole number"),
        ({"step": True}, "step must be a whole number"),
        ({"task": 3}, "task a name"),
        ({"returns": [1.0]}, "one and the same length"),
        ({"returns": [1.0, float("nan")]}, "unexpected character"),
        ({"returns": ["1", 2.0]}, "returns must be finite numbers"),
        ({"successes": [1, 0]}, "successes must be true or false"),
        ({"lengths": [60, 0.5]}, "lengths whole numbers"),
    ],
)
def test_a_line_that_is_no_evaluation_is_refused_with_its_place(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "record"
    path.write_text(f"{json.dumps(WHOLE)}\n{json.dumps(WHOLE | change)}\n")
    with pytest.raises(RequestError, match=f"record, line 2: not an evaluation .*{message}"):
        read_evaluations(path)

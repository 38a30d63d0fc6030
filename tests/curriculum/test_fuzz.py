"""Whatever stands in a suite's file or in a study's folder: an answer or one line, never a traceback, never a hang."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from etude.curriculum import cli
from etude.curriculum.metrics.curves import load_curves
from etude.curriculum.records import read_evaluations
from etude.curriculum.suite import Suite, load_suite
from etude.envs.errors import RequestError
from tests.curriculum.conftest import SMALL
from tests.curriculum.studies import make_suite, realistic, write_study

pytestmark = pytest.mark.timeout(300)
FUZZ = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
NUMBERS = st.sampled_from([-1, 0, 1, 2, 3, 64, 10**6, 10**13, 2**70, -0.5, 0.5, 1e308, float("inf"), float("nan")])
WORDS = st.sampled_from(
    ["", "reach", "PPO", "sac", "../x", "/etc/passwd", "a/b", ".", "..", "~", "os:system", "a\nb", "é"]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside nested dicts and lists."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, below in inner for found in places(below, (*path, key)))]


@st.composite
def changed(draw: st.DrawFn, value: Any) -> Any:
    """A nested value in which one to three others stand where other values stood, or have gone."""
    value = json.loads(json.dumps(value))
    for _ in range(draw(st.integers(1, 3))):
        inside = [path for path in places(value) if path]
        if not inside:  # All has gone.
            break
        *above, last = draw(st.sampled_from(inside))
        holder = value
        for key in above:
            holder = holder[key]
        if draw(st.booleans()):
            holder[last] = draw(VALUES)
        else:
            del holder[last]
    return value


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Bytes of which a stretch is lost, doubled or something else."""
    start = draw(st.integers(0, len(content)))
    end = draw(st.integers(start, min(len(content), start + 200)))
    stretch = draw(st.sampled_from([b"", content[start:end] * 2]) | st.binary(max_size=20))
    return content[:start] + stretch + content[end:]


def one_line(error: RequestError) -> None:
    assert str(error) and "\n" not in str(error) and len(str(error)) < 1000


@FUZZ
@given(settings=changed(SMALL) | VALUES)
def test_a_suite_of_any_values_is_taken_or_refused_in_one_line(tmp_path: Path, settings: Any) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(yaml.safe_dump(settings))
    try:
        suite = load_suite(str(path))
    except RequestError as error:
        one_line(error)
    else:
        assert isinstance(suite, Suite) and suite.name not in (".", "..") and "/" not in suite.name


@FUZZ
@given(content=st.binary(max_size=200) | damaged(yaml.safe_dump(SMALL).encode()))
def test_a_suite_of_any_bytes_is_taken_or_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "suite.yaml"
    path.write_bytes(content)
    try:
        load_suite(str(path))
    except RequestError as error:
        one_line(error)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    suite = make_suite(("reach", "press-button"), seeds=(0,), every=20)
    study = write_study(tmp_path_factory.mktemp("whole") / "study", suite, realistic(suite))
    (study / "environment.json").write_text("{}")
    return study


def copied(whole: Path, folder: Path) -> Path:
    """A study of its own for one example, in the place of the last one's."""
    study = folder / "study"
    shutil.rmtree(study, ignore_errors=True)
    shutil.copytree(whole, study)
    return study


FILES = [
    "suite.yaml",
    "references.json",
    "runs/sequential-seed0/evaluations.jsonl",
    "runs/sequential-seed0/status.json",
    "jobs.json",
]
JOBS = b'{"by": "me@here", "ids": {"sequential-seed0": "12_0"}}'


@FUZZ
@given(data=st.data(), file=st.sampled_from(FILES))
def test_a_study_with_a_damaged_file_is_read_or_refused_in_one_line(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject, file: str
) -> None:
    study = copied(whole, tmp_path)
    content = JOBS if file == "jobs.json" else (whole / file).read_bytes()
    if file.endswith(".json") and data.draw(st.booleans(), label="other values"):
        content = json.dumps(data.draw(changed(json.loads(content)))).encode()
    else:
        content = data.draw(damaged(content))
    (study / file).write_bytes(content)
    code = cli.main(["status", str(study), "--json"])
    printed, error = capsys.readouterr()
    assert (code, error) == (0, "") or (code == 2 and error.count("\n") == 1), error
    if code == 0:
        json.loads(printed, parse_constant=refuse)
    assert cli.main(["status", str(study)]) == code
    assert "ETUDE_TRACEBACK" not in capsys.readouterr().err
    try:
        load_curves(study)
    except RequestError as error:
        one_line(error)


MEASURED = [
    *FILES[1:4],
    *(f"runs/sequential-seed0/{name}" for name in ("cost.json", "training.jsonl", "save/run.json")),
]
COUNTED = {
    "reach": {"learning": {"operations": 640, "steps": 64, "warm_up": 0}, "method": {"operations": 1, "steps": 9}}
}
OTHERS = {
    "cost.json": {"peak_mem": 9, "flops": COUNTED, "flops_an_action": 7, "trainable_params": None, "model_bytes": 5},
    "training.jsonl": {"step": 20, "task": "reach", "return": 1.0},
    "run.json": {"step": 20, "scores": {}, "seconds": {"learning": 1.0}},
    "environment.json": {"python": "3.11", "packages": {"mujoco": "4.0"}},
}


@settings(FUZZ, max_examples=25)
@given(data=st.data(), file=st.sampled_from([*MEASURED, "environment.json"]))
def test_metrics_and_report_of_a_study_with_a_damaged_file_come_or_are_refused_in_one_line(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], data: st.DataObject, file: str
) -> None:
    study = copied(whole, tmp_path)
    path = study / file
    path.parent.mkdir(exist_ok=True)
    content = json.dumps(OTHERS[path.name]).encode() + b"\n" if path.name in OTHERS else path.read_bytes()
    if file.endswith(".json") and data.draw(st.booleans(), label="other values"):
        path.write_bytes(json.dumps(data.draw(changed(json.loads(content)) | VALUES)).encode())
    else:
        path.write_bytes(data.draw(damaged(content)))
    code = cli.main(["metrics", str(study), "--json"])
    printed, error = capsys.readouterr()
    assert (code, error) == (0, "") or (code == 2 and error.count("\n") == 1), error
    if code == 0:
        json.loads(printed, parse_constant=refuse)
    if file == "environment.json" or data.draw(st.integers(0, 9), label="report at 0") == 0:  # It takes its time.
        assert cli.main(["report", str(study)]) == code
    assert "ETUDE_TRACEBACK" not in capsys.readouterr().err


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


@FUZZ
@given(content=st.data())
def test_a_record_of_any_bytes_is_read_or_refused_with_the_line(
    whole: Path, tmp_path: Path, content: st.DataObject
) -> None:
    record = (whole / "runs" / "sequential-seed0" / "evaluations.jsonl").read_bytes()
    path = tmp_path / "evaluations.jsonl"
    path.write_bytes(content.draw(damaged(record) | st.binary(max_size=100)))
    try:
        evaluations = read_evaluations(path)
    except RequestError as error:
        one_line(error)
        assert f"{path}, line " in str(error)
    else:
        assert len(evaluations) <= record.count(b"\n") * 2


NAMES: list[Callable[[str], list[str]]] = [
    lambda name: [f"name={name}"],
    lambda name: [f"wandb.project={name}"],
    lambda name: [f"tasks=['{name}']", "budget=512"],
]


@pytest.mark.parametrize("name", ["..", ".", "../up", "a/b", "/tmp/x", "a\\0b", "-rf", ".hidden", "x" * 65])
@pytest.mark.parametrize("changes", NAMES, ids=["name", "project", "task"])
def test_no_name_leads_out_of_the_studys_folder(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    changes: Callable[[str], list[str]],
    name: str,
) -> None:
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    assert cli.main(["run", "smoke", *changes(name)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert [path.name for path in tmp_path.rglob("*")] == ["inside"]

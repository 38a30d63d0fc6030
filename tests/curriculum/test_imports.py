import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from etude.curriculum import imports
from etude.curriculum.agents.names import resolve_object
from etude.curriculum.cli import main
from etude.curriculum.imports import import_all
from etude.curriculum.launch.pool import Pool
from etude.curriculum.library import absolute_imports
from etude.curriculum.saves import find_save
from etude.curriculum.suite import load_suite
from etude.envs import RequestError, get_task
from tests.curriculum.conftest import SMALL, MakeStudy

AGENT = """
class Mine:
    def method(self, *arguments, **keywords): ...
    begin_task = learn = end_task = act = save = load = save_policy = load_policy = method
"""

TASKS = """
from etude import Task, register_task
from etude.envs.tabletop.reach import Reach
from etude.oracles import register_oracle
from etude.oracles.tabletop.reach import ReachOracle

class Near(Reach):
    "Reach, by another name."
    id = "near"

class NearOracle(ReachOracle):
    "As that of reach."
    task = "near"

register_oracle(NearOracle)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder; what is imported from it, and nothing else, is forgotten: torch bears no second import."""
    monkeypatch.setattr(imports, "_files", {})
    monkeypatch.setattr(imports, "_folders", set())
    monkeypatch.chdir(tmp_path)
    before = dict(sys.modules)
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(tmp_path) in repr(module):
            del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.parametrize("entries", [["lab.py"], ["lab"], []])
def test_a_class_is_found_in_a_file_of_the_imports_and_in_the_current_folder(here: Path, entries: list[str]) -> None:
    (here / "lab.py").write_text(AGENT)
    agent = {"algorithm": "lab:Mine", "environments": 4}
    (here / "suite.yaml").write_text(yaml.safe_dump(SMALL | {"agent": agent, "imports": entries}))
    assert load_suite("suite.yaml").agent.algorithm == "lab:Mine"


def test_a_file_of_the_imports_comes_before_another_module_of_its_name(here: Path, tmp_path: Path) -> None:
    (here / "elsewhere").mkdir()
    (here / "elsewhere" / "json.py").write_text("name = 'mine'")
    import_all([str(here / "elsewhere" / "json.py")])
    assert resolve_object("json:name", "key") == "mine"
    assert importlib.import_module("json").loads("1") == 1


def test_files_of_the_current_folder_import_each_other_once(here: Path) -> None:
    (here / "first.py").write_text("with open('count', 'a') as file: file.write('once')")
    (here / "second.py").write_text("import first")
    import_all([str(here / "first.py"), str(here / "second.py")])
    assert (here / "count").read_text() == "once"


def test_files_beside_a_named_one_can_be_imported_by_it_once(here: Path) -> None:
    folder = here / "elsewhere"
    folder.mkdir()
    (folder / "first_of_two.py").write_text("with open('count', 'a') as file: file.write('once')")
    (folder / "second_of_two.py").write_text("import first_of_two")
    import_all([str(folder / "second_of_two.py"), str(folder / "first_of_two.py")])
    assert (here / "count").read_text() == "once"


def test_the_current_folder_hides_no_installed_module(here: Path) -> None:
    (here / "colorsys.py").write_text("name = 'mine'")
    assert not hasattr(resolve_object("colorsys:rgb_to_hsv", "key"), "name")


def test_a_task_is_registered_by_its_class_once(here: Path) -> None:
    (here / "lab.py").write_text(TASKS)
    import_all(["lab:Near"])
    assert get_task("near").description == "Reach, by another name."
    import_all(["lab:Near", "lab"])


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("lab:Naer", "lab has no Naer; did you mean Near"),
        ("lab:__builtin__", "lab has no __builtin__; known: Near, NearOracle, Reach, ReachOracle, Task, register_"),
        ("lab:NearOracle", "NearOracle is no task; name its module alone"),
        ("lab.py:Near", "neither a module's name nor a file ending in .py, as in lab, lab:Task or lab.py"),
        ("lab:Near:Near", "neither a module"),
        ("lab:", "neither a module"),
    ],
)
def test_a_class_that_is_not_there_or_no_task_is_refused(here: Path, entry: str, told: str) -> None:
    (here / "lab.py").write_text(TASKS)
    (here / "suite.yaml").write_text(yaml.safe_dump(SMALL | {"imports": [entry]}))
    with pytest.raises(RequestError, match=f"^suite suite.yaml: imports: {entry}: {told}"):
        load_suite("suite.yaml")


def test_a_task_registered_twice_is_a_wrong_request(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "lab.py").write_text(TASKS + "register_task(Near)\nregister_task(Near)")
    (here / "suite.yaml").write_text(yaml.safe_dump(SMALL | {"imports": ["lab.py"]}))
    assert main(["run", "suite.yaml"]) == 2
    error = capsys.readouterr().err
    assert error.endswith("lab.py: task id 'near': already registered by Near\n") and error.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("entry", ["lab.py", "lab", "lab:Near"])
def test_a_task_of_the_imports_is_played_by_workers_and_resumed(here: Path, make_study: MakeStudy, entry: str) -> None:
    last = "" if ":" in entry else "register_task(Near)"
    (here / "lab.py").write_text(TASKS + last)
    imports = absolute_imports([entry], here)
    study = make_study(tasks=["near", "press-button"], imports=imports, regimes=["sequential"])
    run = study.run("sequential-seed0")
    whole = b""
    for _ in range(2):
        with Pool(1) as pool:
            (near,) = pool.ask_all({"references": {"task": "near", "episodes": 2, "imports": imports}})
            assert near["fingerprint"]["task"] == "near"
            assert [answer.error for answer in pool.give([{"run": str(run.path)}])] == [None]
        whole = whole or run.evaluations.read_bytes()
        assert run.evaluations.read_bytes() == whole and b'"near"' in whole
        run.status.unlink()
        run.evaluations.write_bytes(whole[: whole.rindex(b"{")])
        shutil.rmtree(find_save(run.save)[0] or run.save)


@pytest.mark.slow
def test_a_worker_finds_what_its_parent_found(here: Path, make_study: MakeStudy) -> None:
    (here / "lab_methods.py").write_text(
        "from etude.curriculum.methods import Method\nclass Plain(Method):\n    'Nothing.'"
    )
    beside = here / "beside"
    beside.mkdir()
    (beside / "far_methods.py").write_text((here / "lab_methods.py").read_text())
    near = make_study("near", method="lab_methods:Plain", regimes=["scratch"])
    far = make_study("far", method="far_methods:Plain", regimes=["scratch"], imports=[str(beside / "far_methods.py")])
    orders = [{"run": str(study.run("scratch-seed0").path)} for study in (near, far)]
    with Pool(1) as pool:
        assert [answer.error for answer in pool.give(orders)] == [None, None]


def test_a_file_does_not_take_another_ones_neighbour_for_its_own(here: Path) -> None:
    for folder in ("one", "two"):
        (here / folder).mkdir()
        (here / folder / "gains.py").write_text(f"FROM = {folder!r}")
        (here / folder / f"{folder}_tasks.py").write_text("from gains import FROM")
    first, second = (str(here / folder / f"{folder}_tasks.py") for folder in ("one", "two"))
    import_all([first, first])
    with pytest.raises(RequestError, match="two_tasks.py: imports gains from beside it, but .*one/gains.py has that"):
        import_all([second])

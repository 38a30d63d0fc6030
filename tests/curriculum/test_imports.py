import importlib
import sys
from pathlib import Path

import pytest
import yaml

from etude.curriculum import imports
from etude.curriculum.agents.names import resolve_object
from etude.curriculum.imports import import_all
from etude.curriculum.launch.pool import Pool
from etude.curriculum.suite import load_suite
from tests.curriculum.conftest import SMALL, MakeStudy

AGENT = """
class Mine:
    def method(self, *arguments, **keywords): ...
    begin_task = learn = end_task = act = save = load = save_policy = load_policy = method
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, and what is imported from it is forgotten."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(imports, "_files", {})
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


def test_the_current_folder_hides_no_installed_module(here: Path) -> None:
    (here / "colorsys.py").write_text("name = 'mine'")
    assert not hasattr(resolve_object("colorsys:rgb_to_hsv", "key"), "name")


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

"""Tasks that come with an installed package, in a process of their own each."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TASK = """
from etude import register_task
from etude.envs.tabletop.reach import Reach

class {name}(Reach):
    "Reach, once more."
    id = "{task}"
{last}
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


def install(site: Path, package: str, entry: str, code: str) -> None:
    """Lay out a package as its installer would: a module, and metadata with one entry point."""
    module = package.replace("-", "_")
    (site / f"{module}.py").write_text(code)
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[etude.tasks]\nmine = {entry}\n")


def python(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(site), "COLUMNS": "200"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=site, timeout=120)


def etude(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return python(site, "-m", "etude_command_for_tests", *arguments)


@pytest.fixture(autouse=True)
def command(site: Path) -> None:
    (site / "etude_command_for_tests.py").write_text("import sys, etude_command; sys.exit(etude_command.main())")


def test_an_entry_point_names_a_module_that_registers_or_a_class(site: Path) -> None:
    install(site, "lab-one", "lab_one", TASK.format(name="One", task="one", last="register_task(One)"))
    install(site, "lab-two", "lab_two:Two", TASK.format(name="Two", task="two", last=""))
    install(site, "lab-three", "lab_three:Three", TASK.format(name="Three", task="three", last="register_task(Three)"))
    done = etude(site, "tasks")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"\n{task}  primitive" in done.stdout for task in ("one", "two", "three"))


def test_entry_points_are_loaded_when_an_unknown_task_is_asked_for_and_not_before(site: Path) -> None:
    code = TASK.format(name="Late", task="late", last="register_task(Late)\nprint('loaded')")
    install(site, "lab-late", "lab_late", code)
    done = python(site, "-c", "import etude; etude.get_task('reach'); print('now'); print(etude.get_task('late').id)")
    assert done.stdout.split() == ["now", "loaded", "late"]


def test_packages_may_build_on_each_others_tasks(site: Path) -> None:
    part = TASK.format(name="Part", task="z-part", last="register_task(Part)")
    whole = "from etude.envs import get_task\nassert get_task('z-part').kind == 'primitive'\n"
    install(site, "a-whole", "a_whole", whole)
    install(site, "z-parts", "z_parts", part)
    assert etude(site, "tasks").returncode == 0


@pytest.mark.parametrize(
    ("entry", "code", "told"),
    [
        ("lab_bad", "import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("lab_bad", "def broken(:", "SyntaxError: invalid syntax"),
        ("lab_bad:Missing", "", "AttributeError: module 'lab_bad' has no attribute 'Missing'"),
        ("lab_bad:number", "number = 3", "RequestError: 3 is no task; name its module alone"),
        ("lab_bad", "raise SystemExit", "SystemExit: no reason given"),
        ("lab_bad:Bad", TASK.format(name="Bad", task="reach", last=""), "'reach': already registered by Reach"),
    ],
)
def test_a_broken_entry_point_is_a_line_and_the_other_tasks_are_there(
    site: Path, entry: str, code: str, told: str
) -> None:
    install(site, "lab-bad", entry, code)
    install(site, "lab-good", "lab_good:Good", TASK.format(name="Good", task="good", last=""))
    done = etude(site, "tasks")
    assert done.returncode == 1
    assert done.stderr.startswith(f"etude: package lab-bad: etude.tasks entry point mine = {entry}: ")
    assert told in done.stderr and done.stderr.count("\n") == 1
    assert "\ngood  primitive" in done.stdout and "\nunlock-drawer  composition" in done.stdout
    unknown = etude(site, "oracle", "bad")
    assert unknown.returncode == 2 and unknown.stderr.startswith("etude: unknown task 'bad'; ")
    assert told in unknown.stderr and unknown.stderr.count("\n") == 1

import re
import tomllib
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def folder_of(package: str) -> Path:
    """Where setuptools finds a package: the longest prefix in package-dir, then the rest of its name."""
    folders: dict[str, str] = SETUPTOOLS["package-dir"]
    prefix = max((p for p in folders if package == p or package.startswith(f"{p}.")), key=len)
    return ROOT.joinpath(folders[prefix], *package.removeprefix(prefix).strip(".").split("."))


def shipped_folders() -> dict[str, Path]:
    """Every folder below the mapped ones that holds Python, by the package name it must have."""
    found = {}
    for package, folder in SETUPTOOLS["package-dir"].items():
        for path in (ROOT / folder).rglob("*.py"):
            inner = path.parent.relative_to(ROOT / folder).parts
            found[".".join((package, *inner))] = path.parent
    return found


def test_every_folder_with_code_is_a_listed_package_and_no_other_is() -> None:
    assert sorted(SETUPTOOLS["packages"]) == sorted(shipped_folders())


def test_every_listed_package_is_one() -> None:
    for package in SETUPTOOLS["packages"]:
        assert (folder_of(package) / "__init__.py").is_file(), package


def test_every_other_file_beside_the_code_is_package_data() -> None:
    data: dict[str, list[str]] = SETUPTOOLS["package-data"]
    matched = {(package, pattern) for package in data for pattern in data[package]}
    unused = set(matched)
    for folder in SETUPTOOLS["package-dir"].values():
        for path in (ROOT / folder).rglob("*"):
            if path.is_dir() or path.suffix in {".py", ".pyc"}:
                continue
            ships = set()
            for package, pattern in matched:
                if path.is_relative_to(folder_of(package)):
                    inner = path.relative_to(folder_of(package)).as_posix()
                    depth_fits = "**" in pattern or "/" not in inner
                    if depth_fits and fnmatch(inner, pattern.replace("**/", "*")):
                        ships.add((package, pattern))
            assert ships, f"{path.relative_to(ROOT)} would be missing from the wheel"
            unused -= ships
    assert not unused


def test_type_checkers_see_every_mapped_folder() -> None:
    for package, folder in SETUPTOOLS["package-dir"].items():
        if package != "etude":
            link = ROOT / ".typing" / "etude" / package.removeprefix("etude.")
            assert link.resolve() == (ROOT / folder).resolve()


def test_every_dependency_is_pinned_to_a_version_in_its_range() -> None:
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pins = {}
    for line in lines:
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.]+)", line)
        assert match, f"{line!r} is not a pin"
        pins[canonicalize_name(match[1])] = match[2]
    assert len(pins) == len(lines)
    project = PROJECT["project"]
    for text in chain(project["dependencies"], *project["optional-dependencies"].values()):
        requirement = Requirement(text)
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), text


def test_the_version_is_the_same_everywhere() -> None:
    import etude

    assert etude.__version__ == PROJECT["project"]["version"]

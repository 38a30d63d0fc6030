from pathlib import Path

from etude.oracles import get_oracle
from etude.oracles.sources import closure, digest


def names(paths: list[Path]) -> set[str]:
    return {f"{path.parent.name}/{path.name}" for path in paths}


def test_an_oracles_sources_are_what_it_imports() -> None:
    found = names(closure(get_oracle("reach").sources()))
    assert {"tabletop/reach.py", "tabletop/motion.py", "oracles/oracle.py", "tabletop/scene.py"} <= found
    assert not found & {"tabletop/open_drawer.py", "oracles/sequence.py", "oracles/__init__.py"}


def test_a_compositions_sources_hold_its_parts() -> None:
    found = closure(get_oracle("unlock-drawer").sources())
    assert {"tabletop/press_button.py", "tabletop/open_drawer.py", "oracles/sequence.py"} <= names(found)
    assert "tabletop/reach.py" not in names(found)


def test_imports_are_followed_beside_and_above_the_file(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    for path, text in {
        inner / "a.py": "from .b import x\nfrom ..c import y\nfrom . import d\nimport os, numpy\nfrom f import w\n",
        inner / "b.py": "from .a import z\n",
        tmp_path / "c.py": "",
        inner / "d.py": "",
        inner / "e.py": "",
        inner / "f.py": "",
    }.items():
        path.write_text(text)
    assert {path.name for path in closure([inner / "a.py"])} == {"a.py", "b.py", "c.py", "d.py", "f.py"}


def test_what_tasks_of_ones_own_import_from_one_place_is_followed_from_there(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("from etude.tabletop import Primitive, TabletopOracle\n")
    assert {"etude/tabletop.py", "tabletop/primitive.py", "tabletop/motion.py"} <= names(closure([own]))


def test_a_digest_is_of_contents_not_of_places_or_order(tmp_path: Path) -> None:
    for folder, order in (("x", "ab"), ("y", "ba")):
        (tmp_path / folder).mkdir()
        for name in order:
            (tmp_path / folder / name).write_text(name)
    first = digest([tmp_path / "x" / "a", tmp_path / "x" / "b"])
    assert digest([tmp_path / "y" / "b", tmp_path / "y" / "a"]) == first
    (tmp_path / "x" / "a").write_text("c")
    assert digest([tmp_path / "x" / "a", tmp_path / "x" / "b"]) != first

from pathlib import Path

import pytest

from etude.curriculum import saves
from etude.curriculum.saves import newest_save, write_folder, write_save


def writer(text: str):  # type: ignore[no-untyped-def]
    return lambda folder: (folder / "file").write_text(text)


def test_the_newest_save_replaces_the_others(tmp_path: Path) -> None:
    assert newest_save(tmp_path / "save") is None
    for step in (512, 1024, 20_480):
        write_save(tmp_path / "save", step, writer(str(step)))
    assert [path.name for path in (tmp_path / "save").iterdir()] == ["20480"]
    newest = newest_save(tmp_path / "save")
    assert newest is not None and (newest / "file").read_text() == "20480"


def test_a_save_that_was_not_finished_is_no_save(tmp_path: Path) -> None:
    write_save(tmp_path, 512, writer("whole"))

    def fail(folder: Path) -> None:
        (folder / "file").write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_save(tmp_path, 1024, fail)
    newest = newest_save(tmp_path)
    assert newest is not None and newest.name == "512"
    write_save(tmp_path, 1024, writer("again"))
    assert [path.name for path in tmp_path.iterdir()] == ["1024"]


def test_a_folder_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    write_folder(tmp_path / "policies" / "0", writer("first"))
    write_folder(tmp_path / "policies" / "0", writer("second"))
    assert (tmp_path / "policies" / "0" / "file").read_text() == "second"


def test_a_file_whose_writing_fails_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    def fail(aside: Path) -> None:
        assert aside.suffix == ".png" and aside.parent == tmp_path
        aside.write_text("half")
        raise ValueError

    saves.write_file(tmp_path / "a.png", lambda aside: aside.write_text("whole") and None)
    with pytest.raises(ValueError):
        saves.write_file(tmp_path / "a.png", fail)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["whole"]

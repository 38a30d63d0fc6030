import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from etude.curriculum import saves
from etude.curriculum.saves import find_save, make_folder, write_folder, write_save


def writer(text: str):  # type: ignore[no-untyped-def]
    return lambda folder: (folder / "file").write_text(text)


def test_the_newest_save_and_the_one_before_are_kept(tmp_path: Path) -> None:
    assert find_save(tmp_path / "save") == (None, {})
    for step in (512, 1024, 20_480):
        write_save(tmp_path / "save", step, writer(str(step)))
    assert {path.name for path in (tmp_path / "save").iterdir()} == {"1024", "20480"}
    newest, damaged = find_save(tmp_path / "save")
    assert newest is not None and (newest / "file").read_text() == "20480" and not damaged


def test_a_save_that_was_not_finished_is_no_save(tmp_path: Path) -> None:
    write_save(tmp_path, 512, writer("whole"))

    def fail(folder: Path) -> None:
        (folder / "file").write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_save(tmp_path, 1024, fail)
    assert find_save(tmp_path) == (tmp_path / "512", {})
    write_save(tmp_path, 1024, writer("again"))
    assert {path.name for path in tmp_path.iterdir()} == {"512", "1024"}


def test_what_others_put_beside_the_saves_is_left_there(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "1024").write_text("no folder")
    (tmp_path / ".100.elsewhere-1.aside").mkdir()  # What a killed process left: no later save has its step.
    for step in (512, 1024, 2048, 4096):
        write_save(tmp_path, step, writer(str(step)))
    assert {path.name for path in tmp_path.iterdir()} == {".DS_Store", "2048", "4096"}


def test_processes_that_write_one_file_at_once_all_write_it_whole(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from etude.curriculum.saves import write_file, write_text
path, text = Path(sys.argv[1]), sys.argv[2] * 10_000
for _ in range(200):
    write_text(path, text, lasting=False)
    write_file(path.with_suffix(".csv"), lambda aside: aside.write_text(text))
    assert len(set(path.read_text())) == len(set(path.with_suffix(".csv").read_text())) == 1
"""
    command = [sys.executable, "-c", program, str(tmp_path / "a.json")]
    writers = [subprocess.Popen([*command, letter], stderr=subprocess.PIPE) for letter in "abc"]
    assert [(writer.communicate()[1], writer.returncode) for writer in writers] == [(b"", 0)] * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.json"]


def test_what_a_process_that_is_gone_left_aside_is_removed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    host = os.uname().nodename
    left, others = tmp_path / f".a.{host}-{gone.pid}.aside.json", tmp_path / f".a.{host}-1.aside.json"
    for path in (left, others):
        path.write_text("half")
    saves.write_text(tmp_path / "a.json", "whole")
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", others.name}


def test_a_text_that_finds_no_room_leaves_the_old_one_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saves.write_text(tmp_path / "a.json", "whole")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        saves.write_text(tmp_path / "a.json", "half")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["whole"]


def flip_a_bit(save: Path) -> None:
    content = bytearray((save / "file").read_bytes())
    content[0] ^= 1
    (save / "file").write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (flip_a_bit, "file is not as it was written"),
        (lambda save: (save / "file").write_bytes(b""), "file is not as it was written"),
        (lambda save: (save / "file").unlink(), "file is not as it was written"),
        (lambda save: (save / "another").touch(), "another is not as it was written"),
        (lambda save: (save / "checksums.json").write_text("[3]"), "checksums.json cannot be read"),
        (lambda save: (save / "checksums.json").unlink(), "checksums.json cannot be read"),
    ],
    ids=["a bit flipped", "emptied", "a file lost", "a file added", "no checksums", "checksums lost"],
)
def test_a_damaged_save_is_noticed_and_the_one_before_taken(
    tmp_path: Path, damage: Callable[[Path], object], fault: str
) -> None:
    for step in (512, 1024):
        write_save(tmp_path, step, writer(str(step)))
    damage(tmp_path / "1024")
    assert find_save(tmp_path) == (tmp_path / "512", {tmp_path / "1024": fault})
    damage(tmp_path / "512")
    assert find_save(tmp_path) == (None, dict.fromkeys((tmp_path / "1024", tmp_path / "512"), fault))


def test_a_new_folder_is_fsynced_into_each_one_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced, fsync = [], os.fsync

    def note(handle: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{handle}")))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    make_folder(tmp_path / "study" / "runs")
    assert set(synced) == {tmp_path, tmp_path / "study"}
    synced.clear()
    make_folder(tmp_path / "study" / "runs")
    assert not synced
    write_save(tmp_path / "study" / "save", 512, writer("whole"))
    assert {tmp_path / "study", tmp_path / "study" / "save"} <= set(synced)
    synced.clear()
    write_save(tmp_path / "study" / "save", 1024, writer("whole"))  # Who made the folder may have been killed at once.
    assert {tmp_path / "study", tmp_path / "study" / "save"} <= set(synced)


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

import os
import pickle
from pathlib import Path

import pytest
import torch

from etude.curriculum.agents.tensors import load_tensors, save_tensors

CPU = torch.device("cpu")


class Code:
    """What runs when it is unpickled."""

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return os.mkdir, ("ran",)


def test_tensors_are_read_back_equal(tmp_path: Path) -> None:
    save_tensors({"layers": [torch.arange(3.0), 2, "relu"]}, tmp_path / "file")
    tensor, number, word = load_tensors(tmp_path / "file", CPU)["layers"]
    assert torch.equal(tensor, torch.arange(3.0)) and (number, word) == (2, "relu")


def test_code_in_a_file_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save(Code(), "new")
    torch.save(Code(), "old", _use_new_zipfile_serialization=False)
    Path("bare").write_bytes(pickle.dumps(Code(), protocol=2))
    for name in ("new", "old", "bare"):
        with pytest.raises(pickle.UnpicklingError):
            load_tensors(tmp_path / name, CPU)
    assert not Path("ran").exists()


def test_a_full_disk_is_told_as_one() -> None:
    with pytest.raises(OSError, match="No space left on device"):
        save_tensors(torch.zeros(10_000), Path("/dev/full"))

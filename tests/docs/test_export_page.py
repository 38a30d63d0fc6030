import re
import runpy
from pathlib import Path

import pytest

from etude.curriculum.export import COLUMNS, export_episodes

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/export.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    export_episodes([ROOT / "docs/studies/quick"], folder / "episodes.parquet")
    return folder


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split()[1])
def test_the_pages_examples_run(
    block: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (folder / "example.py").write_text(block)
    runpy.run_path("example.py")
    assert len(capsys.readouterr().out.splitlines()) > 5


def test_the_page_names_every_column() -> None:
    rows = re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row)] == list(COLUMNS)

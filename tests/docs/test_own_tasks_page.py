"""The page on tasks of one's own shows the examples as they are."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "tasks-of-your-own.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(?:python|toml)\n(.*?)```", PAGE, re.DOTALL)
EXAMPLES = [path for path in sorted((ROOT / "examples").rglob("*")) if path.suffix in {".py", ".yaml", ".toml"}]


@pytest.mark.parametrize("block", BLOCKS)
def test_code_on_the_page_is_an_examples(block: str) -> None:
    assert any(block in path.read_text(encoding="utf-8") for path in EXAMPLES)


def test_the_page_names_every_example() -> None:
    linked = [ROOT / "docs" / link for link in re.findall(r"\]\((\.\./examples/[^)]+)\)", PAGE)]
    assert all(path.exists() for path in linked)
    for path in EXAMPLES:
        assert any(path.resolve().is_relative_to(link.resolve()) for link in linked), path


def test_every_link_leads_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", PAGE):
        assert (ROOT / "docs" / link).exists(), link

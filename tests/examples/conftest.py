"""The examples are imported as a suite beside them imports them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture(autouse=True)
def examples(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the examples; what is imported from it is forgotten."""
    monkeypatch.syspath_prepend(EXAMPLES)
    yield EXAMPLES
    for path in EXAMPLES.rglob("*.py"):
        sys.modules.pop(path.stem, None)

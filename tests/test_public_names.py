import subprocess
import sys

import pytest

import etude


def test_every_public_name_is_there() -> None:
    for name in etude.__all__:
        assert getattr(etude, name).__module__.startswith("etude.envs")


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tsak_ids'"):
        etude.tsak_ids  # noqa: B018


def test_importing_etude_makes_its_tasks_known_to_gymnasium() -> None:
    code = "import etude, gymnasium; gymnasium.make('etude/Reach-v0').reset(seed=0)"
    subprocess.run([sys.executable, "-c", code], check=True)

import subprocess
import sys

import etude


def test_every_public_name_is_there() -> None:
    for name in etude.__all__:
        assert getattr(etude, name).__module__.startswith(("etude.envs", "etude.oracles"))


def test_importing_etude_makes_its_tasks_known_to_gymnasium() -> None:
    code = "import etude, gymnasium; gymnasium.make('etude/Reach-v0').reset(seed=0)"
    subprocess.run([sys.executable, "-c", code], check=True)

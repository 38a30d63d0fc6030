import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from etude.envs import get_task

PAGE = (Path(__file__).parent.parent.parent / "docs" / "oracles.md").read_text(encoding="utf-8")

CHECK = """
from etude import Task
class Whole(Task):
    "Hover, then press."
    id, kind, parts = "hover-then-press", "composition", ("hover-cube", "press-button")
    horizon, starts = 80, "as they are"
    def reset(self, scene, ids, rngs):
        arrange(scene, ids, rngs)
    def reward(self, scene):
        return self.success(scene) * 1.0
    def success(self, scene):
        return scene.button_depth > 0.012
register_task(Whole)
register_oracle(HoverThenPressOracle)
assert measured["oracle"]["success"] >= 0.99 and measured["oracle"]["variation"] <= 0.05
assert measure_oracle("hover-then-press", 10)["oracle"]["success"] == 1
"""


@pytest.mark.slow
def test_the_pages_code_does_what_the_page_says(tmp_path: Path) -> None:
    code = tmp_path / "page.py"
    code.write_text("\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)) + CHECK)
    done = subprocess.run([sys.executable, str(code)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stderr
    success, rest = done.stdout.split(" ")[0], done.stdout.split()[-1]
    assert float(success) >= 0.99
    assert np.isclose(float(rest), 100)


def test_the_page_names_every_word_of_the_privileged_state_with_its_shape() -> None:
    env = get_task("reach").make_vector(5)
    env.reset(seed=0)
    found = env.unwrapped.privileged_state()  # type: ignore[attr-defined]
    env.close()
    stated = dict(re.findall(r"^\| `(\w+)` \| (\(N.*?\)) \|", PAGE, re.MULTILINE))
    assert stated == {word: str(array.shape).replace("5", "N", 1) for word, array in found.items()}

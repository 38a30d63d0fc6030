import json
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from etude.envs import RequestError, get_task, task_ids
from etude.envs import registry as tasks
from etude.oracles import evaluation_seeds, fingerprint, get_oracle, measure_references, score

References = Callable[[str], dict[str, Any]]

OWN_ORACLE = """
import numpy as np
from etude.oracles import Oracle
from {imported} import GAIN

class Own(Oracle):
    task = "reach"
    def act(self, privileged):
        move = GAIN * (privileged["goal"] - privileged["setpoint"])
        return np.concatenate([move, -np.ones((self.size, 1))], axis=1)
"""


def test_references_are_json_of_every_episode(references: References) -> None:
    measured = references("reach")
    assert json.loads(json.dumps(measured, allow_nan=False)) == measured
    assert list(measured) == ["fingerprint", "oracle", "random", "zero"]
    for name in ("oracle", "random", "zero"):
        assert {key: len(values) for key, values in measured[name].items()} == {
            "returns": 24,
            "successes": 24,
            "lengths": 24,
        }


def test_measuring_again_gives_the_same_bits(references: References) -> None:
    assert measure_references("reach", 24) == references("reach")


def test_an_episodes_references_do_not_depend_on_the_other_episodes(references: References) -> None:
    seeds = evaluation_seeds("press-button", 24)
    few = measure_references("press-button", 3, [seeds[20], seeds[3], seeds[11]])
    many = references("press-button")
    for name in ("oracle", "random", "zero"):
        assert few[name]["returns"] == [many[name]["returns"][episode] for episode in (20, 3, 11)]


@pytest.mark.parametrize("task", task_ids())
def test_the_oracle_scores_100_and_the_floor_0(task: str, references: References) -> None:
    measured = references(task)
    assert np.mean(score(measured["oracle"]["returns"], measured)) == pytest.approx(100)
    failing = [np.mean(score(measured[name]["returns"], measured)) for name in ("random", "zero")]
    assert max(failing) == pytest.approx(0)


@pytest.mark.parametrize("task", task_ids())
def test_failing_earns_less_than_a_third_of_the_oracles_return(task: str) -> None:
    measured = measure_references(task, 64)
    for name in ("random", "zero"):
        assert np.mean(measured[name]["returns"]) < 0.3 * np.mean(measured["oracle"]["returns"])
        assert np.mean(measured[name]["successes"]) <= 0.05


def test_a_fingerprint_says_what_the_references_depend_on() -> None:
    found = fingerprint("reach", 20)
    assert {key: found[key] for key in ("task", "version", "mujoco", "episodes")} == {
        "task": "reach",
        "version": get_task("reach").version,
        "mujoco": mujoco.__version__,
        "episodes": 20,
    }
    assert len(found["sources"]) == 64


def test_tasks_differ_in_their_sources() -> None:
    assert len({fingerprint(task, 20)["sources"] for task in task_ids()}) == len(task_ids())


def test_a_change_of_the_tasks_source_changes_the_fingerprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = get_task("reach")
    copy = tmp_path / "reach.py"
    original = next(path for path in spec.sources if path.name == "reach.py")
    moved = tuple(copy if path == original else path for path in spec.sources)
    monkeypatch.setitem(tasks._specs, "reach", replace(spec, sources=moved))
    before = fingerprint("press-button", 20)
    digests = []
    for text in (original.read_text(), original.read_text().replace("TOLERANCE = 0.02", "TOLERANCE = 0.03")):
        copy.write_text(text)
        digests.append(fingerprint("reach", 20)["sources"])
    assert digests[0] != digests[1]
    assert fingerprint("press-button", 20) == before


@pytest.mark.parametrize("imported", [".gains", "own_package.gains"])
def test_a_change_of_what_an_oracle_imports_changes_the_fingerprint(
    imported: str, tmp_path: Path, own_registry: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "own_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "gains.py").write_text("GAIN = 30\n")
    (package / "own.py").write_text(OWN_ORACLE.format(imported=imported))
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("own_package", "own_package.gains", "own_package.own"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    own_registry["reach"] = import_module("own_package.own").Own
    before = fingerprint("reach", 20)
    (package / "gains.py").write_text("GAIN = 31\n")
    after = fingerprint("reach", 20)
    assert {key for key in before if before[key] != after[key]} == {"sources"}


def test_a_parts_oracle_is_among_a_compositions_sources(own_registry: dict[str, Any]) -> None:
    before = fingerprint("unlock-drawer", 20)
    own_registry["press-button"] = get_oracle("reach")
    assert fingerprint("unlock-drawer", 20)["sources"] != before["sources"]


def test_no_episodes_are_refused() -> None:
    with pytest.raises(RequestError, match="task 'reach': 0 episodes; references need at least 1"):
        measure_references("reach", 0)

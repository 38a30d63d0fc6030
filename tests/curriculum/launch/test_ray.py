import gc
import io
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from rich.console import Console

from etude.curriculum.claim import claim_folder
from etude.curriculum.launch import make_cluster, run_study
from etude.curriculum.launch.profile import load_profile
from etude.curriculum.runner import execute
from etude.curriculum.status import study_status
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite
from etude.envs.errors import RequestError

pytest.importorskip("ray", reason="the extra ray is not installed: pip install 'etude[ray]'")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.ray,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray does not wait for the processes that it ends.
]

METHOD = """
import time
from pathlib import Path
from etude.curriculum.methods import Method, register_method

@register_method("{name}")
class WaitsToBeKilled(Method):
    updates = 0

    def adjust_gradients(self, name, optimiser):
        self.updates += 1
        if self.updates == 300:
            import ray
            if ray.is_initialized() and not {mark!r}.exists():
                {mark!r}.write_text(ray.get_runtime_context().get_node_id())
                time.sleep(600)

    def save(self, folder):
        (folder / "updates").write_text(str(self.updates))

    def load(self, folder, agent):
        self.updates = int((folder / "updates").read_text())
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A Ray cluster of three machines, all of them this one: a head without processors, and two with one each."""
    from ray._private import services
    from ray.cluster_utils import Cluster

    found = services.get_node

    def found_at_last(*arguments: Any) -> Any:
        """Ray gives a machine thirty seconds to start, which a busy one exceeds."""
        end = time.monotonic() + 300
        while True:
            try:
                return found(*arguments)
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "get_node", found_at_last)
        patch.setenv("RAY_agent_register_timeout_ms", "300000")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        made = Cluster()
        try:
            made.add_node(num_cpus=0, include_dashboard=False)
            for _ in range(2):
                made.add_node(num_cpus=1)
            yield made
        finally:
            made.shutdown()
            gc.collect()


def run(suite: Suite, out: Path, address: str) -> tuple[int, str]:
    console = Console(file=io.StringIO(), width=80)
    code = run_study(suite, out, 1, console, make_cluster(load_profile("ray", None, [f"address={address}"]), None))
    assert isinstance(console.file, io.StringIO)
    return code, console.file.getvalue()


def test_a_run_whose_machine_is_lost_goes_on_to_the_same_bits_on_another(
    cluster: Any, tmp_path: Path, suite_of: Callable[..., Suite], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, mark = f"killed_{os.urandom(4).hex()}", tmp_path / "node"
    (tmp_path / f"{name}.py").write_text(METHOD.format(name=name, mark=mark).replace("PosixPath", "Path"))
    evaluation = {"every": 2048, "episodes": 2}
    imports = [str(tmp_path / f"{name}.py")]
    suite = suite_of(budget=8192, evaluation=evaluation, regimes=["scratch"], method=name, imports=imports)
    study = StudyFolder(tmp_path / "study")

    def lose_the_machine() -> None:
        while not mark.exists() or not mark.read_text():
            time.sleep(0.1)
        (node,) = (node for node in cluster.worker_nodes if node.node_id == mark.read_text())
        cluster.remove_node(node, allow_graceful=False)

    loser = Thread(target=lose_the_machine, daemon=True)
    loser.start()
    code, text = run(suite, study.path, cluster.address)
    loser.join()
    assert code == 0, text
    assert mark.exists() and len(cluster.worker_nodes) == 1

    whole = StudyFolder(tmp_path / "whole").run("scratch-seed0")
    claim_folder(suite, whole.study.path)
    execute(whole.path)
    resumed = study.run("scratch-seed0")
    for recorded in ("evaluations.jsonl", "training.jsonl", "policies/8192/policy.pt"):
        assert (resumed.path / recorded).read_bytes() == (whole.path / recorded).read_bytes()


def test_a_run_that_fails_is_told_and_the_others_finish(
    cluster: Any, tmp_path: Path, suite_of: Callable[..., Suite]
) -> None:
    name = f"fails_{os.urandom(4).hex()}"
    method = METHOD.replace("time.sleep(600)", "raise RuntimeError('no memory left')")
    (tmp_path / f"{name}.py").write_text(method.format(name=name, mark=tmp_path / "m").replace("PosixPath", "Path"))
    imports = [str(tmp_path / f"{name}.py")]
    suite = suite_of(budget=8192, evaluation={"every": 8192, "episodes": 2}, seeds=[0, 1], regimes=["scratch"])
    suite = suite.model_copy(update={"method": name, "imports": tuple(imports)})
    code, text = run(suite, tmp_path / "study", cluster.address)
    assert code == 1
    assert "1 of 2 runs did not end well" in text and "seed 0: RuntimeError: no memory left" in text
    assert [row["state"] for row in study_status(tmp_path / "study")["runs"]] == ["failed", "done"]


def test_an_address_without_a_cluster_is_refused(tmp_path: Path, suite_of: Callable[..., Suite]) -> None:
    with pytest.raises(RequestError, match="ray profile: address: 127.0.0.1:1: no Ray cluster there"):
        run(suite_of(regimes=["scratch"]), tmp_path / "study", "127.0.0.1:1")

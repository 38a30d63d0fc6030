import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from etude.curriculum import cli
from etude.curriculum.metrics.compute import compute_metrics
from etude.curriculum.metrics.curves import load_curves
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.plan import run_names
from etude.curriculum.records import read_evaluations
from etude.curriculum.study import StudyFolder
from etude.curriculum.wandb_sink import GRACE, PROMPT, WAITING, feed_study
from etude.envs.errors import RequestError
from etude.oracles.scores import score
from tests.curriculum.studies import make_suite, realistic, write_run, write_study

pytestmark = pytest.mark.slow

REGIMES = ("sequential", "scratch", "isolated", "joint")
SUITE = make_suite(("reach", "unlock-drawer"), seeds=(0, 1), regimes=REGIMES, name="small")
FEW = make_suite(("reach", "unlock-drawer"), seeds=(0, 1), name="small")
KEY = "0123456789" * 4


def read_back(folder: Path) -> list[dict[str, Any]]:
    """The records of an offline run, by W&B's own reader."""
    [file] = folder.glob("*.wandb")
    command = [sys.executable, "-m", "wandb", "leet", "inspect", "--json", str(file)]
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def folders_of(study: Path) -> dict[str, Path]:
    """The offline runs by their names."""
    folders = [path for path in (study / "wandb").glob("offline-run-*") if path.is_dir()]
    # W&B adds a number where a run of that name has begun before in the same second, as one that it could not send.
    token = (study / "wandb" / "id").read_text().strip()
    named = re.compile(rf"offline-run-\d+_\d+-(.+)-{token}(-\d+)?")
    by_name = {match[1]: folder for folder in folders if (match := named.fullmatch(folder.name))}
    assert len(by_name) == len(folders)
    return by_name


def points_of(records: list[dict[str, Any]]) -> Counter[tuple[int, str, float]]:
    """Every logged (global_step, key, value)."""
    points: Counter[tuple[int, str, float]] = Counter()
    for record in records:
        if record["type"] == "history" and "global_step" in record["history"]["item"]:
            item = record["history"]["item"]
            points.update((item["global_step"], key, item[key]) for key in item if "/" in key)
    return points


def run_of(records: list[dict[str, Any]]) -> dict[str, Any]:
    return next(record["run"] for record in records if record["type"] == "run")


def summary_of(records: list[dict[str, Any]]) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for record in records:
        if record["type"] == "summary":
            summary |= record["summary"].get("update", {})
    return summary


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose third seed's runs are missing and unfinished, fed offline."""
    study = write_study(tmp_path_factory.mktemp("studies") / "small", SUITE, realistic(SUITE))
    suite = SUITE.model_copy(update={"seeds": (0, 1, 2)})
    (study / "suite.yaml").write_text(suite.to_yaml())
    write_run(study, suite, "sequential", 2, realistic(suite), state="failed", reason="out of memory", until=50)
    assert feed_study(study)
    return study


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Seconds that feeding `FEW` takes where nothing is waited for."""
    few = write_study(tmp_path_factory.mktemp("usual") / "study", FEW, realistic(FEW))
    begun = time.perf_counter()
    assert feed_study(few, "offline")
    return time.perf_counter() - begun


@pytest.fixture(scope="module")
def fed(study: Path) -> dict[str, list[dict[str, Any]]]:
    return {name: read_back(folder) for name, folder in folders_of(study).items()}


def test_every_run_with_records_is_a_run_of_wandb_beside_one_aggregate(fed: dict[str, Any]) -> None:
    assert fed.keys() == {str(name) for name in run_names(SUITE)} | {"sequential-seed2", "aggregate"}


def test_every_logged_point_is_a_record_and_every_record_is_logged(study: Path, fed: dict[str, Any]) -> None:
    references = json.loads((study / "references.json").read_text())
    for name in fed.keys() - {"aggregate"}:
        wanted: Counter[tuple[int, str, float]] = Counter()
        for line in read_evaluations(study / "runs" / name / "evaluations.jsonl"):
            mean = float(np.mean(line.returns))
            values = {"return": mean, "success": float(np.mean(line.successes))}
            values["score"] = float(score(mean, references[line.task]))
            wanted.update((line.step, f"{key}/{line.task}", round(value, 9)) for key, value in values.items())
        logged = Counter((step, key, round(value, 9)) for step, key, value in points_of(fed[name]))
        assert logged == wanted
        assert sum(wanted.values()) > 10


def test_runs_are_named_grouped_and_configured_by_the_study(study: Path, fed: dict[str, Any]) -> None:
    for name, records in fed.items():
        run = run_of(records)
        group = name.partition("-seed")[0]
        assert (run["display_name"], run["run_group"], run["job_type"], run["project"]) == (
            name,
            "small",
            group,
            "etude",
        )
        config = {key: value for key, value in run["config"]["update"].items() if key != "_wandb"}
        assert config == load_curves(study).suite.model_dump(mode="json")


def test_values_are_drawn_against_global_step_and_never_lost_to_wandbs_own(fed: dict[str, Any]) -> None:
    for records in fed.values():
        metrics = [record["metric"] for record in records if record["type"] == "metric"]
        against = {metric["glob_name"]: metric["step_metric"] for metric in metrics if "glob_name" in metric}
        assert {key: against[key] for key in ("score/*", "success/*", "return/*")} == dict.fromkeys(
            ("score/*", "success/*", "return/*"), "global_step"
        )
        steps = [record["history"]["step"].get("num", 0) for record in records if record["type"] == "history"]
        assert steps == list(range(len(steps)))


def test_an_unfinished_run_says_so(fed: dict[str, Any]) -> None:
    assert summary_of(fed["sequential-seed2"])["unfinished"] == "failed at step 50 of 80: out of memory"
    assert "unfinished" not in summary_of(fed["sequential-seed0"])


def test_the_aggregate_holds_the_seed_means_of_each_regime(study: Path, fed: dict[str, Any]) -> None:
    curves = load_curves(study)
    wanted: Counter[tuple[int, str, float]] = Counter()
    for regime in ("sequential", "scratch", "isolated-reach", "joint"):
        prefix = "" if regime == "sequential" else f"{regime}/"
        view = StudyView(curves, (0, 1))
        quantities = {"score": view.scores(regime), "success": view.successes(regime), "return": view.returns(regime)}
        for quantity, values in quantities.items():
            for (index, column), value in np.ndenumerate(values):
                if not np.isnan(value):
                    key = f"{prefix}{quantity}/{SUITE.tasks[index]}"
                    wanted[int(view.steps(regime)[column]), key, round(float(value), 9)] += 1
    logged = Counter((step, key, round(value, 9)) for step, key, value in points_of(fed["aggregate"]))
    assert logged == wanted


def test_the_aggregate_holds_the_metrics_the_table_and_the_figure(study: Path, fed: dict[str, Any]) -> None:
    metrics = compute_metrics(study)
    summary = summary_of(fed["aggregate"])
    for name in ("bwt", "bwt_gated", "fwt"):
        metric = metrics["metrics"][name]
        assert summary[name] == pytest.approx(metric["value"])
        assert summary[f"{name}_range/low"] == pytest.approx(metric["range"]["low"])
        assert summary[f"{name}_interval/high"] == pytest.approx(metric["interval"]["high"])
    assert summary["seeds/sequential"] == "2 of 3 seeds"
    files = folders_of(study)["aggregate"] / "files"
    table = json.loads((files / summary["forgetting.path"]).read_text())
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    assert [row["task"] for row in rows] == ["reach", "unlock-drawer"]
    for row in rows:
        entry = metrics["tasks"][row["task"]]
        assert {key: row[key] for key in ("C", "D", "D_ceiling", "final")} == pytest.approx(
            {key: entry[key] for key in ("C", "D", "D_ceiling", "final")}
        )
    drawn = (study / "figures" / "learning_curves.png").read_bytes()
    assert (files / summary["learning_curves.path"]).read_bytes() == drawn


def test_feeding_again_replaces_the_runs_and_is_quiet(
    study: Path, fed: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    before = folders_of(study)
    logged = points_of(fed["sequential-seed2"])
    assert feed_study(study, project="another")
    assert capfd.readouterr() == ("", "")
    after = folders_of(study)
    assert before.keys() == after.keys()
    assert not any(folder.exists() for name, folder in before.items() if folder != after[name])
    records = read_back(after["sequential-seed2"])
    assert points_of(records) == logged
    assert run_of(records)["project"] == "another"
    assert run_of(records)["run_id"] == run_of(fed["sequential-seed2"])["run_id"]


def test_nothing_is_written_outside_the_studys_folder(study: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    code = f"import etude.curriculum.wandb_sink as sink, pathlib; sink.feed_study(pathlib.Path({str(study)!r}))"
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "MPLCONFIGDIR": str(tmp_path / "matplotlib")}
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, env=environment)
    assert [path for path in home.rglob("*") if path.is_file()] == []
    assert not (tmp_path / "wandb").exists()


def test_disabled_does_nothing(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", FEW, realistic(FEW))
    assert feed_study(study, "disabled")
    assert not (study / "wandb").exists()


def test_a_study_that_cannot_be_read_is_a_wrong_request(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", FEW, realistic(FEW))
    (study / "references.json").write_text("{}")
    with pytest.raises(RequestError, match=r"references.json, reach: not a reference"):
        feed_study(study)


class Refusing(BaseHTTPRequestHandler):
    """A server that takes no key."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(401)
        self.end_headers()
        self.wfile.write(b'{"errors": [{"message": "invalid key"}]}')

    def log_message(self, *_: Any) -> None:
        pass


class Silent(Refusing):
    """A server that never answers."""

    def do_POST(self) -> None:
        time.sleep(30)


class Slow(Refusing):
    """A server that does all it is asked, each time a second later."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        time.sleep(1)
        asked = json.loads(body) if self.path == "/graphql" else {}
        answer = json.dumps({"data": self.data(asked.get("operationName"), asked.get("variables"))}).encode()
        with suppress(BrokenPipeError):
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    do_PUT = do_POST

    def data(self, operation: str | None, given: Any) -> dict[str, Any]:
        if operation == "UpsertBucket":
            project = {"id": "1", "name": given["project"], "entity": {"id": "2", "name": "me"}}
            bucket = {"id": "3", "name": given["name"], "historyLineCount": 0, "project": project}
            return {"upsertBucket": {"bucket": bucket, "inserted": True}}
        if operation == "CreateRunFiles":
            files = [{"name": name, "uploadUrl": f"http://{self.headers['host']}/{name}"} for name in given["files"]]
            return {"createRunFiles": {"runID": given["run"], "uploadHeaders": [], "files": files}}
        return {}


def test_a_server_that_answers_slowly_costs_a_bounded_time_in_all_and_the_rest_is_written_offline(
    usual: float, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = write_study(tmp_path / "study", FEW, realistic(FEW))
    begun = time.perf_counter()
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as listening:
        Thread(target=listening.serve_forever, daemon=True).start()
        monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{listening.server_address[1]}")
        monkeypatch.setenv("WANDB_API_KEY", KEY)
        assert not feed_study(study, "online")
        waited = time.perf_counter() - begun
        listening.shutdown()
    [line] = capfd.readouterr().err.splitlines()
    assert line.startswith("warning: W&B (online): ")
    assert line.endswith(f"; written offline, to be sent with: wandb sync {study}/wandb/offline-run-*")
    offline = folders_of(study).keys()
    sent = {path.name.split("-", 2)[2].rsplit("-", 1)[0] for path in (study / "wandb").glob("run-*") if path.is_dir()}
    names = {str(name) for name in run_names(FEW)}
    assert "aggregate" in offline and offline | sent == names | {"aggregate"}
    assert not offline & sent
    assert waited < usual + WAITING + GRACE + 2 * PROMPT * len(names), "a run may be as slow as is usual"


@pytest.mark.parametrize(("server", "reason"), [(Refusing, "invalid key"), (Silent, "Timed out"), (None, "refused")])
def test_a_server_that_fails_costs_a_line_and_its_timeout(
    usual: float,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    server: type[BaseHTTPRequestHandler] | None,
    reason: str,
) -> None:
    study = write_study(tmp_path / "study", FEW, realistic(FEW))
    listening = ThreadingHTTPServer(("127.0.0.1", 0), server or Refusing)
    listening.daemon_threads = True
    if server is None:
        listening.server_close()  # Nobody listens at its address any more.
    else:
        Thread(target=listening.serve_forever, daemon=True).start()
    monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{listening.server_address[1]}")
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    begun = time.perf_counter()
    assert not feed_study(study, "online")
    # What a dead server may cost in all, beside what feeding costs anyway.
    assert time.perf_counter() - begun < usual + 20
    if server is not None:
        listening.shutdown()
        listening.server_close()
    captured = capfd.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    assert line.startswith("warning: W&B (online): ")
    assert reason in line
    assert line.endswith(f"; written offline, to be sent with: wandb sync {study}/wandb/offline-run-*")
    assert folders_of(study).keys() == {
        "sequential-seed0",
        "sequential-seed1",
        "scratch-seed0",
        "scratch-seed1",
        "aggregate",
    }


def test_a_study_whose_wandb_is_dead_ends_well(
    make_study: Callable[..., StudyFolder], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{gone.getsockname()[1]}")
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    study = make_study(regimes=["scratch"], wandb={"mode": "online", "project": "small"}).path
    assert cli.main(["run", str(study / "suite.yaml"), "--out", str(study)]) == 0
    error = capfd.readouterr().err
    assert error.startswith("warning: W&B (online): ") and error.count("\n") == 1
    assert folders_of(study).keys() == {"scratch-seed0", "aggregate"}


def test_no_key_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    study = write_study(tmp_path / "study", FEW, realistic(FEW))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    assert not feed_study(study, "online")
    assert "warning: W&B (online): No API key configured" in capfd.readouterr().err


def test_a_feed_that_stands_still_is_ended() -> None:
    code = (
        "import time, types, etude.curriculum.wandb_sink as sink\nsink.GRACE = 0.5\n"
        "with sink._Sink._waiting(types.SimpleNamespace(_waited=0.0), 0.5): time.sleep(60)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGALRM


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        ("kill -ALRM $$", "it did not answer in time"),
        ("exit 9", "the feeding process failed, see {study}/wandb/feed.log"),
    ],
)
def test_a_feed_that_was_ended_online_is_written_offline(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, ends: str, reason: str
) -> None:
    study = write_study(tmp_path / "study", FEW, realistic(FEW))
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\ncase "$*" in *online*) {ends};; *) exec {sys.executable} "$@";; esac\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert not feed_study(study, "online")
    line = f"warning: W&B (online): {reason.format(study=study)}; written offline, "
    assert capfd.readouterr().err.startswith(line)
    assert "aggregate" in folders_of(study)

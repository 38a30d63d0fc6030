import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from etude.curriculum import cli, follow
from etude.curriculum.jobs import forget_jobs, jobs_in_words, read_jobs, refuse_beside_jobs, write_jobs
from etude.curriculum.status import study_status
from etude.curriculum.study import StudyFolder
from etude.envs.errors import RequestError

IDS = {"sequential-seed0": "12_0", "scratch-seed0": "12_1"}


@pytest.fixture
def squeue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a program named squeue first in the path, that runs a line of shell."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")

    def write(line: str) -> None:
        (tmp_path / "bin" / "squeue").write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / "bin" / "squeue").chmod(0o755)

    return write


def test_jobs_that_wait_or_run_hold_the_study_and_are_shown_beside_their_runs(
    squeue: Callable[[str], None], make_study: Callable[..., StudyFolder]
) -> None:
    study = make_study().path
    write_jobs(study, IDS)
    squeue("echo '12_0|PENDING|Resources'; echo '12_1|COMPLETED|None'")
    assert jobs_in_words(study) == {"sequential-seed0": "Slurm job 12_0: pending (Resources)"}
    assert [row["job"] for row in study_status(study)["runs"]] == ["Slurm job 12_0: pending (Resources)", None]
    with pytest.raises(RequestError, match="Slurm jobs 12_0 of .*@.* are at work here; .* scancel 12 ends them"):
        refuse_beside_jobs(study)


def test_a_study_whose_jobs_only_wait_in_the_queue_is_watched_until_they_have_ended(
    squeue: Callable[[str], None],
    make_study: Callable[..., StudyFolder],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    study = make_study().path
    write_jobs(study, IDS)
    looks = iter(["echo '12_0|PENDING|Priority'", "true"])
    monkeypatch.setattr(follow, "time", SimpleNamespace(sleep=lambda _: squeue(next(looks))))
    squeue("echo '12_0|PENDING|Resources'; echo '12_1|PENDING|Resources'")
    assert cli.main(["status", str(study), "--watch", "--json"]) == 0
    seen = [json.loads(line)["runs"][0]["job"] for line in capsys.readouterr().out.splitlines()]
    assert seen == ["Slurm job 12_0: pending (Resources)", "Slurm job 12_0: pending (Priority)", None]


@pytest.mark.parametrize("to_do", [["--watch"], ["--watch", "--json"]], ids=str)
def test_where_slurm_cannot_be_asked_a_study_is_shown_once(
    squeue: Callable[[str], None], make_study: Callable[..., StudyFolder], to_do: list[str]
) -> None:
    study = make_study().path
    write_jobs(study, IDS)
    squeue("exit 1")
    assert cli.main(["status", str(study), *to_do]) == 0


@pytest.mark.parametrize(
    "line",
    [
        "echo '12_0|CANCELLED|None'; echo '12_1|OUT_OF_MEMORY|None'",
        "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1",
        "true",
    ],
)
def test_jobs_that_have_ended_or_that_slurm_has_forgotten_hold_nothing(
    squeue: Callable[[str], None], tmp_path: Path, line: str
) -> None:
    write_jobs(tmp_path, IDS)
    squeue(line)
    refuse_beside_jobs(tmp_path)
    assert read_jobs(tmp_path) is None


def test_where_slurm_cannot_be_asked_its_jobs_are_taken_to_be_at_work(
    squeue: Callable[[str], None], tmp_path: Path
) -> None:
    write_jobs(tmp_path, IDS)
    squeue("echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(RequestError, match="Unable to contact .*; ask on its machines, or delete .*jobs.json if"):
        refuse_beside_jobs(tmp_path)
    assert jobs_in_words(tmp_path)["scratch-seed0"] == "Slurm job 12_1; Slurm cannot be asked here"
    forget_jobs(tmp_path)
    refuse_beside_jobs(tmp_path)

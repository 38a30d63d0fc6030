import csv
import json
from pathlib import Path

import duckdb
import pandas
import polars
import pytest

from etude.curriculum import cli
from etude.curriculum.export import COLUMNS, export_episodes
from etude.curriculum.metrics.curves import load_curves
from etude.curriculum.metrics.view import StudyView
from etude.envs.errors import RequestError
from tests.curriculum.studies import make_suite, realistic, write_study

SUITE = make_suite(
    ("reach", "press-button", "unlock-drawer"), regimes=["sequential", "scratch", "isolated", "joint"], seeds=[0, 3]
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("studies") / "study", SUITE, realistic(SUITE))


@pytest.fixture(scope="module")
def table(study: Path) -> pandas.DataFrame:
    export_episodes([study], study / "episodes.parquet")
    return pandas.read_parquet(study / "episodes.parquet")


def test_there_is_a_row_an_episode_of_every_run(study: Path, table: pandas.DataFrame) -> None:
    lines = [line for path in study.glob("runs/*/evaluations.jsonl") for line in path.read_text().splitlines()]
    assert len(table) == sum(len(json.loads(line)["returns"]) for line in lines)
    assert list(table.columns) == list(COLUMNS)
    assert set(table.study) == {"study"} and set(table.seed) == {0, 3}
    assert not table.duplicated(["regime", "alone", "seed", "step", "task", "episode"]).any()


def test_the_scores_averaged_are_those_that_metrics_read(study: Path, table: pandas.DataFrame) -> None:
    curves = load_curves(study)
    for group, regime, alone in [("sequential",) * 2 + (None,), ("isolated-reach", "isolated", "reach")]:
        rows = table[(table.regime == regime) & (table.alone.isna() if alone is None else table.alone == alone)]
        means = rows.groupby(["task", "step"]).score.mean()
        scores = StudyView(curves, (0, 3)).scores(group)
        for (task, step), mean in means.items():
            column = list(curves.regimes[group].steps).index(step)
            assert mean == pytest.approx(scores[SUITE.tasks.index(task), column])


def test_regimes_are_told_apart_in_columns(table: pandas.DataFrame) -> None:
    told = table[["regime", "order", "alone"]].drop_duplicates()
    rows = {(regime, None if pandas.isna(order) else order, None if pandas.isna(alone) else alone)
            for regime, order, alone in told.itertuples(index=False)}  # fmt: skip
    assert rows == {
        ("sequential", 1, None),
        ("scratch", None, "unlock-drawer"),
        ("isolated", None, "reach"),
        ("isolated", None, "press-button"),
        ("joint", None, None),
    }


def test_csv_and_parquet_hold_the_same_for_all_three_readers(study: Path, table: pandas.DataFrame) -> None:
    export_episodes([study], study / "episodes.csv")
    for file in ("episodes.csv", "episodes.parquet"):
        read = polars.read_csv if file.endswith("csv") else polars.read_parquet
        frame = read(study / file)
        assert frame.height == len(table)
        assert frame["return"].sum() == pytest.approx(table["return"].sum())
        assert frame["success"].dtype == polars.Boolean
        [counted] = duckdb.sql(f"select count(*), sum(success::int), max(step) from '{study / file}'").fetchall()
        assert counted == (len(table), table.success.sum(), table.step.max())


def test_a_study_without_references_has_no_scores(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE))
    (study / "references.json").unlink()
    export_episodes([study], tmp_path / "e.csv")
    with (tmp_path / "e.csv").open() as file:
        assert {row["score"] for row in csv.DictReader(file)} == {""}


def test_wrong_requests_are_told_in_a_line(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RequestError, match="neither .parquet nor .csv"):
        export_episodes([study], tmp_path / "e.xlsx")
    with pytest.raises(RequestError, match="two of the studies have this name"):
        export_episodes([study, study], tmp_path / "e.csv")
    assert cli.main(["export", str(tmp_path), "--to", "e.csv"]) == 2
    assert "not a study" in capsys.readouterr().err


def test_a_broken_record_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE))
    (tmp_path / "e.csv").write_text("before")
    record = study / "runs/scratch-seed3/evaluations.jsonl"
    record.write_text("no record\n" + record.read_text())
    with pytest.raises(RequestError, match="line 1"):
        export_episodes([study], tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] != []
    assert not list(tmp_path.glob(".e*"))


def test_a_place_that_cannot_hold_the_file_is_refused(study: Path, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").touch()
    for to, fault in ((tmp_path / "folder.csv", "is a folder; name a file"),
                      (tmp_path / "file/episodes.csv", "cannot be written .*; name another place")):  # fmt: skip
        with pytest.raises(RequestError, match=f"--to: {to} {fault}"):
            export_episodes([study], to)

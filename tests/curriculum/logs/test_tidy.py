import json
import tracemalloc
from pathlib import Path

import polars
import pytest

from etude.curriculum import cli
from etude.curriculum.export import export_episodes
from etude.curriculum.logs.write import import_log
from etude.curriculum.metrics.compute import compute_metrics
from etude.envs.errors import RequestError
from tests.curriculum.studies import make_suite, realistic, write_study

LINES = ["step,task,training,seed,score"] + [
    f"{step},{task},{training},{seed},{score + seed}"
    for seed in (0, 1)
    for step, training, scores in (
        (0, "", (1, 2)),
        (10, "a", (50, 3)),
        (20, "a", (80, 4)),
        (30, "b", (60, 30)),
        (40, "b", (40, 60)),
    )
    for task, score in zip("ab", scores, strict=True)
    if training != "a" or step == 20 or task == "a"
]


def write(folder: Path, lines: list[str], name: str = "log.csv") -> Path:
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name


@pytest.mark.parametrize("file", ["episodes.csv", "episodes.parquet"])
def test_an_exported_study_comes_back_with_the_same_metrics(tmp_path: Path, file: str) -> None:
    suite = make_suite(budget={"reach": 40, "press-button": 60, "open-drawer": 40, "unlock-drawer": 50}, also=[5],
                       regimes=["sequential", "scratch", "isolated", "joint", "scratch-total"])  # fmt: skip
    study = write_study(tmp_path / "study", suite, realistic(suite))
    export_episodes([study], tmp_path / file)
    imported = import_log(tmp_path / file, "tidy", tmp_path / "imported")
    assert (imported.tasks, imported.budget, imported.seeds) == (suite.tasks, suite.budget, suite.seeds)
    assert imported.evaluation == suite.evaluation
    first, second = compute_metrics(study)["metrics"], compute_metrics(tmp_path / "imported")["metrics"]
    assert second.keys() == first.keys()
    for name in ("bwt", "fwt", "fwt_total", "acc", "fwt_isolated", "intransigence"):
        assert second[name]["value"] == pytest.approx(first[name]["value"]), name


def test_a_table_of_several_studies_is_refused(tmp_path: Path) -> None:
    lines = [f"{line},{'study' if not place else 'ab'[place > 5]}" for place, line in enumerate(LINES)]
    with pytest.raises(RequestError, match="line 7: study is 'b', before it 'a'; import one study at a time"):
        import_log(write(tmp_path, lines), "tidy", tmp_path / "study")


def test_an_episode_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    lines = [f"{line},{place if place else 'episode'}" for place, line in enumerate(LINES)]
    import_log(write(tmp_path, lines), "tidy", tmp_path / "study")
    with pytest.raises(RequestError, match=r"line 20: episode 1 of a at step 0 of sequential-seed0 is there twice"):
        import_log(write(tmp_path, [*lines, lines[1]]), "tidy", tmp_path / "other")


def test_a_table_without_success_says_that_success_rates_say_nothing(tmp_path: Path) -> None:
    import_log(write(tmp_path, LINES), "tidy", tmp_path / "study")
    (note,) = json.loads((tmp_path / "study" / "import.json").read_bytes())["notes"]
    assert note == "The log has no column success: episodes count as not succeeded, and success rates say nothing."
    lines = [f"{line},{'true' if place else 'success'}" for place, line in enumerate(LINES)]
    import_log(write(tmp_path, lines), "tidy", tmp_path / "told")
    assert json.loads((tmp_path / "told" / "import.json").read_bytes())["notes"] == []


def test_a_few_columns_are_enough(tmp_path: Path) -> None:
    import_log(write(tmp_path, LINES), "tidy", tmp_path / "study")
    tasks = compute_metrics(tmp_path / "study")["tasks"]
    assert (tasks["a"]["C"], tasks["a"]["final"], tasks["b"]["C"]) == (80.5, 40.5, 60.5)
    assert tasks["a"]["D"] == pytest.approx(100 * (10 * 20 / 2 + 10 * (20 + 40) / 2) / (20 * 80.5))


def test_returns_become_scores_between_the_floor_and_the_oracle_that_are_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write(tmp_path, [LINES[0].replace("score", "return"), *LINES[1:]])
    options = ["--floor", "-20", "--oracle", "80", "--oracle", "b=180"]
    assert cli.main(["import", str(log), "--format", "tidy", "--out", str(tmp_path / "study"), *options]) == 0
    assert "etude metrics" in capsys.readouterr().out
    tasks = compute_metrics(tmp_path / "study")["tasks"]
    assert (tasks["a"]["C"], tasks["b"]["C"]) == (pytest.approx(100.5), pytest.approx(40.25))


def test_successes_alone_are_scores_in_percent(tmp_path: Path) -> None:
    lines = ["step,task,training,episode,success"]
    for step, training, wins in ((0, "", (0, 0)), (10, "a", (3, 0)), (20, "b", (1, 4))):
        for task, won in zip("ab", wins, strict=True):
            lines += [f"{step},{task},{training},{episode},{str(episode < won).lower()}" for episode in range(4)]
    import_log(write(tmp_path, lines), "tidy", tmp_path / "study")
    for of in ("score", "success"):
        tasks = compute_metrics(tmp_path / "study", of)["tasks"]  # type: ignore[arg-type]
        assert (tasks["a"]["C"], tasks["a"]["final"], tasks["b"]["C"]) == (75, 25, 100)


@pytest.mark.parametrize(
    ("number", "line", "fault"),
    [
        (0, "step,task,seed,score", "line 1: there is no column training"),
        (0, "step,task,training,score,score", "line 1: there are two columns score; rename or remove one"),
        (0, "step,task,training,seed,points", "line 1: there is none of the columns score, return, success"),
        (3, "10,a,a,0,high", "line 4: score 'high' is no number"),
        (3, "10,a,a,0,nan", "line 4: score 'nan' is not finite"),
        (3, "ten,a,a,0,5", "line 4: step 'ten' is no number"),
        (3, "10.5,a,a,0,5", "line 4: step '10.5' is no whole number"),
        (3, "10,a,,0,5", "line 4: training is empty"),
        (3, "10,a,a,0", "line 4: 4 cells, but the heading has 5"),
        (3, "10,,a,0,5", "line 4: task is empty"),
        (3, "20,a,a,0,5", "line 4: a at step 20 has 2 episodes"),
        (8, "40,a/../b,b,0,5", "has no evaluation of a at step 40"),
    ],
)
def test_a_wrong_line_is_told_with_file_line_and_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: int, line: str, fault: str
) -> None:
    log = write(tmp_path, [*LINES[:number], line, *LINES[number + 1 :]])
    assert cli.main(["import", str(log), "--format", "tidy", "--out", str(tmp_path / "study")]) == 2
    said = capsys.readouterr().err
    assert fault in said and str(log) in said or fault.startswith("has no")
    assert len(said.splitlines()) == 1 and not (tmp_path / "study").exists()


def test_a_log_without_the_untrained_agent_needs_to_be_told_its_score(tmp_path: Path) -> None:
    log = write(tmp_path, [LINES[0], *(line for line in LINES[1:] if not line.startswith("0,"))])
    with pytest.raises(RequestError, match="no evaluation of a at step 0, the untrained agent; --untrained 0"):
        import_log(log, "tidy", tmp_path / "study")
    import_log(log, "tidy", tmp_path / "study", untrained=2)
    assert "the untrained agent's score was given as 2" in (tmp_path / "study/import.json").read_text()
    record = (tmp_path / "study/runs/sequential-seed1/evaluations.jsonl").read_text().splitlines()
    assert json.loads(record[0])["returns"] == [2]


def test_seeds_that_were_trained_otherwise_are_refused(tmp_path: Path) -> None:
    lines = [line.replace("40,", "50,") if line.split(",")[3] == "1" else line for line in LINES]
    with pytest.raises(
        RequestError, match="sequential-seed0 and sequential-seed1 differ: .*b until 40, but .*b until 50"
    ):
        import_log(write(tmp_path, lines), "tidy", tmp_path / "study")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"floor": ["c=1"]}, "--floor: there is no task c"),
        ({"oracle": ["much"]}, "--oracle: 'much' is neither a number"),
        ({"oracle": ["=50"]}, "--oracle: '=50' is neither a number"),
        ({"oracle": ["a=0"]}, "--oracle: 0 of a is not above its floor, 0"),
        ({"floor": ["100"], "oracle": ["100.01"]}, "--oracle: 100.01 of a is not above its floor, 100, by enough"),
        ({"oracle": ["a=inf"]}, "--oracle: a=inf is not finite"),
        ({"floor": ["-inf"]}, "--floor: -inf is not finite"),
        ({"untrained": float("nan")}, "--untrained: nan is not finite"),
        ({"episodes": 3}, "--episodes: is not of tidy tables"),
        ({"column": "x"}, "--column: is of l2logger logs"),
    ],
)
def test_wrong_options_are_told(tmp_path: Path, options: dict[str, object], fault: str) -> None:
    with pytest.raises(RequestError, match=fault):
        import_log(write(tmp_path, LINES), "tidy", tmp_path / "study", **options)  # type: ignore[arg-type]


def test_a_scratch_run_of_several_trainings_is_refused(tmp_path: Path) -> None:
    lines = [f"{LINES[0]},regime", *(f"{line},scratch" for line in LINES[1:])]
    with pytest.raises(RequestError, match=r"log.csv: scratch-seed0 is trained on a, b; a run of regime scratch has"):
        import_log(write(tmp_path, lines), "tidy", tmp_path / "study")


def test_a_number_that_no_suite_has_is_told(tmp_path: Path) -> None:
    lines = [LINES[0], *(line.replace(",0,", ",99999999999,") for line in LINES[1:])]
    with pytest.raises(RequestError, match=r"the log as a suite: seeds.1: 99999999999 must be below 4294967296"):
        import_log(write(tmp_path, lines), "tidy", tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_checkpoint_one_step_after_a_tasks_start_makes_no_grid_of_single_steps(tmp_path: Path) -> None:
    end = 3_000_000
    steps = ((0, ""), (1, "a"), (end, "a"), (end + 1, "b"), (2 * end, "b"))
    lines = [f"{step},{task},{training},0,50" for step, training in steps for task in "ab"]
    log = write(tmp_path, [LINES[0], *lines])
    tracemalloc.start()
    suite = import_log(log, "tidy", tmp_path / "study")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert suite.evaluation.every == end and suite.evaluation.also == (1,)
    assert peak < 20e6, "bytes"


def test_nothing_is_written_over(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="is there already"):
        import_log(write(tmp_path, LINES), "tidy", tmp_path)


def test_a_row_of_parquet_is_told_by_its_number(tmp_path: Path) -> None:
    polars.DataFrame(
        {"step": [0, 10], "task": ["a", "a"], "training": [None, "a"], "score": [1.0, None]}
    ).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(RequestError, match="log.parquet, row 2: score is empty, and so are return and success"):
        import_log(tmp_path / "log.parquet", "tidy", tmp_path / "study")


def test_a_file_of_parquet_that_is_damaged_inside_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    columns = {"step": [*range(1000)], "task": ["a"] * 1000, "training": ["a"] * 1000, "score": [1.5] * 1000}
    polars.DataFrame(columns).write_parquet(path)
    damaged = bytearray(path.read_bytes())
    damaged[4:400] = bytes(396)
    path.write_bytes(damaged)
    with pytest.raises(RequestError, match="log.parquet: not a Parquet file"):
        import_log(path, "tidy", tmp_path / "study")

import csv
import json
from pathlib import Path

import pytest

from etude.curriculum.logs.write import import_log
from etude.curriculum.metrics.compute import compute_metrics
from etude.envs.errors import RequestError

HEADING = ["block_num", "exp_num", "worker_id", "block_type", "block_subtype", "task_name", "task_params",
           "exp_status", "timestamp", "reward"]  # fmt: skip
REWARDS = {"Reach_a": (1, 80, 40, 30), "Push_b": (2, 3, 60, 50), "Stack_c": (0, 5, 6, 90)}


def write_scenario(folder: Path, tasks: tuple[str, ...] = tuple(REWARDS), shift: float = 0.0, tests: int = 3) -> Path:
    """A scenario as l2logger writes it: test, train, test, ..., in a worker's block folders, a line an experience."""
    folder.mkdir(parents=True)
    (folder / "logger_info.json").write_text('{"metrics_columns": ["reward"], "log_format_version": "1.1"}')
    (folder / "scenario_info.json").write_text(json.dumps({"author": "a lab", "scenario_type": "custom"}))
    block = exp = 0
    for place in range(len(tasks) + 1):
        if place:
            exp = _write_block(folder, block, "train", [(tasks[place - 1], 1.0)] * 100, exp)
            block += 1
        told = [(task, REWARDS[task][place] + shift + offset - 1) for task in tasks for offset in range(tests)]
        exp = _write_block(folder, block, "test", told, exp)
        block += 1
    return folder


def _write_block(folder: Path, block: int, kind: str, experiences: list[tuple[str, float]], exp: int) -> int:
    place = folder / "worker-default" / f"{block}-{kind}"
    place.mkdir(parents=True)
    with (place / "data-log.tsv").open("w", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(HEADING)
        for task, reward in experiences:
            params, time = json.dumps({"size": 5}), "20201020T235720.363688"
            writer.writerow([block, exp, "worker-default", kind, "wake", task, params, "complete", time, reward])
            exp += 1
    return exp


def test_scenarios_become_the_seeds_of_a_study(tmp_path: Path) -> None:
    for name, shift in (("run-1", 0), ("run-2", 2)):
        write_scenario(tmp_path / "logs" / name, shift=shift)
    suite = import_log(tmp_path / "logs", "l2logger", tmp_path / "study")
    assert suite.tasks == ("reach_a", "push_b", "stack_c") and suite.seeds == (0, 1)
    assert suite.budget == dict.fromkeys(suite.tasks, 100) and suite.evaluation.episodes == 3
    result = compute_metrics(tmp_path / "study")
    assert [entry["C"] for entry in result["tasks"].values()] == [81, 61, 91]
    assert result["tasks"]["reach_a"]["per_seed"]["1"]["final"] == 32
    assert any("A step is a training experience" in note for note in _notes(tmp_path / "study"))


def _notes(study: Path) -> list[str]:
    return list(json.loads((study / "import.json").read_text())["notes"])


def test_an_expert_of_the_last_task_is_the_scratch_run(tmp_path: Path) -> None:
    write_scenario(tmp_path / "logs/sequence")
    write_scenario(tmp_path / "logs/ste", ("Stack_c",))
    suite = import_log(tmp_path / "logs", "l2logger", tmp_path / "study")
    assert suite.regimes == ("sequential", "scratch")
    # From 6 to 90 after practice, from 0 to 5 without.
    assert compute_metrics(tmp_path / "study")["metrics"]["fwt"]["value"] == pytest.approx((6 + 90) / 2 - 5 / 2)


def test_incomplete_and_sleeping_experiences_are_left_out_and_counted(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path / "run")
    file = folder / "worker-default/1-train/data-log.tsv"
    lines = file.read_text().splitlines()
    lines[1] = lines[1].replace("\tcomplete\t", "\tincomplete\t")
    lines[2] = lines[2].replace("\twake\t", "\tsleep\t")
    file.write_text("\n".join(lines) + "\n")
    suite = import_log(folder, "l2logger", tmp_path / "study")
    assert suite.budget["reach_a"] == 98
    assert any(note.startswith("2 experiences") for note in _notes(tmp_path / "study"))


def test_test_blocks_of_other_lengths_need_to_be_cut(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path / "run")
    file = folder / "worker-default/2-test/data-log.tsv"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(RequestError, match="stack_c at step 100 has 2 episodes, but 3 stand"):
        import_log(folder, "l2logger", tmp_path / "study")
    assert import_log(folder, "l2logger", tmp_path / "study", episodes=2).evaluation.episodes == 2


def test_more_episodes_than_a_block_has_are_refused(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path / "run")
    with pytest.raises(RequestError, match="data-log.tsv, line 5: --episodes 4, but this block has 3 of push_b"):
        import_log(folder, "l2logger", tmp_path / "study", episodes=4)
    assert not (tmp_path / "study").exists()


def test_the_measured_column_may_stand_alone_and_is_told_if_it_is_no_name(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path / "run")
    info = folder / "logger_info.json"
    info.write_text('{"metrics_columns": "reward"}')
    assert import_log(folder, "l2logger", tmp_path / "study").tasks == ("reach_a", "push_b", "stack_c")
    for wrong in ("[]", "[1]", "{}", '[""]', "null"):
        info.write_text(f'{{"metrics_columns": {wrong}}}')
        with pytest.raises(RequestError, match="logger_info.json: metrics_columns is .*, must be a list of"):
            import_log(folder, "l2logger", tmp_path / "other")


def test_a_task_that_is_trained_again_is_refused(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path / "run")
    file = folder / "worker-default/5-train/data-log.tsv"
    file.write_text(file.read_text().replace("Stack_c", "Reach_a"))
    with pytest.raises(RequestError, match="line 2: task_name 'reach_a' is trained a second time"):
        import_log(folder, "l2logger", tmp_path / "study")


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("\treward", "\tpoints", "line 1: there is no column reward"),
        ("\t80.0", "\tmuch", "line 3: reward 'much' is no number"),
        ("\ttest\t", "\texam\t", "line 2: block_type 'exam' is neither train nor test"),
        ("\tReach_a\t", "\t\t", "line 2: task_name is empty"),
    ],
)
def test_wrong_lines_are_told(tmp_path: Path, before: str, after: str, fault: str) -> None:
    file = write_scenario(tmp_path / "run") / "worker-default/2-test/data-log.tsv"
    file.write_text(file.read_text().replace(before, after))
    with pytest.raises(RequestError, match=fault) as told:
        import_log(tmp_path / "run", "l2logger", tmp_path / "study")
    assert str(file) in str(told.value)


def test_a_folder_without_a_scenario_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="holds no logger_info.json"):
        import_log(tmp_path, "l2logger", tmp_path / "study")

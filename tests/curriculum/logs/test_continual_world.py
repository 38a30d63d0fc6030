import csv
import json
from pathlib import Path

import pytest

from etude.curriculum.logs.write import import_log
from etude.curriculum.metrics.compute import compute_metrics
from etude.envs.errors import RequestError

TASKS = ("hammer-v1", "push-wall-v1", "faucet-close-v1")
RATES = {"hammer-v1": (0.0, 0.9, 0.4, 0.3, 0.1, 0.0), "push-wall-v1": (0, 0, 0.5, 1.0, 0.6, 0.4),
         "faucet-close-v1": (0.0, 0.1, 0.0, 0.1, 0.7, 0.8)}  # fmt: skip


def write_run(
    folder: Path, tasks: tuple[str, ...] = TASKS, seed: int = 0, every: int = 500, own: int = 1000, **config: object
) -> Path:
    """A run's folder as Continual World writes it: the columns of its logger, a line an epoch, and config.json."""
    folder.mkdir(parents=True)
    settings = {"seed": seed, "cl_method": "ewc", "steps_per_task": own, "tasks": "CW3"} | config
    (folder / "config.json").write_text(json.dumps(settings, indent=4, separators=(",", ":\t")))
    with (folder / "progress.tsv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns(tasks), delimiter="\t", restval="0.0", lineterminator="\n")
        writer.writeheader()
        for epoch in range(1, len(tasks) * own // every + 1):
            step = epoch * every
            line: dict[str, object] = {"epoch": epoch, "total_env_steps": step, "walltime": 12.5 * epoch}
            line["train/active_env"] = (step - 1) // own
            line["current_task_steps"] = (step - 1) % own + 1
            for index, task in enumerate(tasks):
                line[f"test/stochastic/{index}/{task}/success"] = float(RATES[task][(epoch - 1) % 6])
                line[f"test/stochastic/{index}/{task}/ep_length"] = 200.0
                line[f"test/stochastic/{index}/{task}/return/avg"] = 1234.5
            writer.writerow(line)
    return folder / "progress.tsv"


def columns(tasks: tuple[str, ...]) -> list[str]:
    names = []
    for mode in ("stochastic", "deterministic"):
        for index, task in enumerate(tasks):
            kinds = ("return/avg", "return/std", "return/max", "return/min", "ep_length", "success")
            names += [f"test/{mode}/{index}/{task}/{kind}" for kind in kinds]
        names.append(f"test/{mode}/average_success")
    return names + ["epoch", "train/return/avg", "total_env_steps", "current_task_steps", "train/loss_q1",
                    "train/alpha/0", "train/success", "train/active_env", "walltime"]  # fmt: skip


def test_runs_of_several_methods_are_refused(tmp_path: Path) -> None:
    for method in ("ewc", None):
        write_run(tmp_path / f"logs/{method}", cl_method=method)
    with pytest.raises(RequestError, match="several methods, finetuning in .*, ewc in .*; import those of each method"):
        import_log(tmp_path / "logs", "continual-world", tmp_path / "study", untrained=0)


def test_runs_of_a_sequence_become_a_study_whose_scores_are_success_rates(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_run(tmp_path / f"logs/cl/162581{seed}", seed=seed)
    suite = import_log(tmp_path / "logs", "continual-world", tmp_path / "study", untrained=0)
    assert (suite.tasks, suite.seeds, suite.method) == (TASKS, (1, 2), "ewc")
    assert suite.budget == dict.fromkeys(TASKS, 1000) and suite.evaluation.every == 500
    for of in ("score", "success"):
        tasks = compute_metrics(tmp_path / "study", of)["tasks"]  # type: ignore[arg-type]
        assert [tasks[task]["C"] for task in TASKS] == pytest.approx([90, 100, 80])
        assert [tasks[task]["final"] for task in TASKS] == pytest.approx([0, 40, 80])
    [noted] = [n for n in json.loads((tmp_path / "study/import.json").read_text())["notes"] if "left out" in n]
    assert noted.startswith("6 of 36 evaluations were left out: of tasks not yet begun")


def test_runs_of_one_task_are_the_isolated_and_the_scratch_runs(tmp_path: Path) -> None:
    write_run(tmp_path / "logs/cl/a")
    for task in TASKS:
        write_run(tmp_path / f"logs/baseline/{task}", (task,), task=task)
    suite = import_log(tmp_path / "logs", "continual-world", tmp_path / "study", untrained=0)
    assert suite.regimes == ("sequential", "scratch", "isolated")
    metrics = compute_metrics(tmp_path / "study")["metrics"]
    lead = ((0.1 - 0.0) + 2 * (0.7 - 0.0) + (0.8 - 0.1)) / 4  # at 0, 500 and 1000 steps of the last task
    assert metrics["fwt"]["value"] == pytest.approx(100 * lead)
    assert metrics["cw_forgetting"]["value"] == pytest.approx((0.9 + 0.6 + 0) / 3)


def test_a_history_of_wandb_as_csv_is_read_alike(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    with (tmp_path / "run/progress.tsv").open() as file:
        lines = list(csv.reader(file, delimiter="\t"))
    with (tmp_path / "history.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["_step", *lines[0]])
        for number, line in enumerate(lines[1:]):
            writer.writerow([number, *line])
            writer.writerow([number + 0.5, *[""] * len(line)])  # W&B has lines that hold other values
    import_log(tmp_path / "history.csv", "continual-world", tmp_path / "study", untrained=0)
    assert compute_metrics(tmp_path / "study")["tasks"]["hammer-v1"]["C"] == pytest.approx(90)


def test_a_task_that_comes_twice_has_two_names(tmp_path: Path) -> None:
    suite = import_log(write_run(tmp_path / "run", TASKS[:2] * 2), "continual-world", tmp_path / "study", untrained=0)
    assert suite.tasks == ("hammer-v1", "push-wall-v1", "hammer-v1-again", "push-wall-v1-again")


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("\t0.9\t", "\tmany\t", r"line 3: test/stochastic/0/hammer-v1/success 'many' is no number"),
        ("\t0.9\t", "\t0.95\t", r"line 3: test/stochastic/0/hammer-v1/success 0.95 is no share of 10 episodes"),
        ("\t0.9\t", "\t1.9\t", "no share of 10"),
        ("total_env_steps", "steps", "total_env_steps is empty"),
        ("/success", "/won", "has no line with a column test/stochastic"),
    ],
)
def test_wrong_lines_are_told(tmp_path: Path, before: str, after: str, fault: str) -> None:
    path = write_run(tmp_path / "run")
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(RequestError, match=fault) as told:
        import_log(path, "continual-world", tmp_path / "study", untrained=0)
    assert str(path) in str(told.value)


def test_evaluations_must_fall_on_the_ends_of_the_tasks(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", every=400)
    with pytest.raises(
        RequestError, match="line 4: current_task_steps 200 at step 1200: training on push-wall-v1 began"
    ):
        import_log(path, "continual-world", tmp_path / "study", untrained=0)


def test_other_numbers_of_episodes_can_be_given(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run")
    path.write_text(path.read_text().replace("\t0.9\t", "\t0.95\t"))
    suite = import_log(path, "continual-world", tmp_path / "study", untrained=0, episodes=20)
    assert suite.evaluation.episodes == 20
    assert compute_metrics(tmp_path / "study")["tasks"]["hammer-v1"]["C"] == pytest.approx(95)


def test_two_runs_with_one_seed_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_run(tmp_path / "logs" / name)
    with pytest.raises(RequestError, match="both are sequential with seed 0"):
        import_log(tmp_path / "logs", "continual-world", tmp_path / "study", untrained=0)


@pytest.mark.parametrize(("seed", "shown"), [("first", "'first' is no number"), (-1, "'-1' is no whole number")])
def test_a_seed_that_is_none_is_told(tmp_path: Path, seed: object, shown: str) -> None:
    path = write_run(tmp_path / "run")
    config = path.with_name("config.json")
    config.write_text(json.dumps(json.loads(config.read_text()) | {"seed": seed}))
    with pytest.raises(RequestError, match=f"config.json: seed {shown}"):
        import_log(path, "continual-world", tmp_path / "study", untrained=0)


def test_a_config_that_is_no_mapping_is_told(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run")
    path.with_name("config.json").write_text("[1]")
    with pytest.raises(RequestError, match="config.json: must hold a mapping from keys to values"):
        import_log(path, "continual-world", tmp_path / "study", untrained=0)

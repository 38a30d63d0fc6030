import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from etude.curriculum.metrics.compute import compute_metrics
from etude.curriculum.report.table import print_table
from etude.curriculum.suite import REGIMES
from tests.curriculum.studies import TASKS, Score, make_suite, realistic, write_run, write_study

SUITE = make_suite()


def printed(study: Path, metrics: dict[str, Any] | None = None, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    print_table(study, console, metrics)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert max(len(line) for line in text.splitlines()) <= width
    assert not re.search(r"\b(nan|None|inf)\b|-0\.0\b", text)
    return text


def words(text: str) -> str:
    return " ".join(text.split())


def study_of(folder: Path, score: Score, **changes: Any) -> Path:
    suite = make_suite(**changes)
    return write_study(folder / "study", suite, score, spread=1.0)


def test_every_number_of_the_study_is_shown(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE))
    metrics = compute_metrics(study)
    text = printed(study, metrics)
    for task, entry in metrics["tasks"].items():
        [row] = [line for line in text.splitlines() if line.startswith(f"  {task} ")]
        shown = [f"{entry['C']:.1f}", f"{entry['success_at_end']:.0%}", f"{entry['final']:.1f}"]
        shown.append(f"{entry['final_success']:.0%}")
        if entry["D"] is not None:
            shown += [f"{entry['D']:.1f}", f"({entry['D_ceiling']:.1f})"]
        assert row.split() == [task, *shown]
    for name, form in (("bwt", "{:.1f}"), ("fwt", "{:+.1f}")):
        [row] = [line for line in text.splitlines() if line.startswith(f"  {name.upper()} ")]
        metric = metrics["metrics"][name]
        ends = [metric["range"]["low"], metric["range"]["high"], metric["interval"]["low"], metric["interval"]["high"]]
        low, high, left, right = (form.format(end) for end in ends)
        wanted = f"{name.upper()} {form.format(metric['value'])} {low} to {high} {left} to {right} 3 of 3"
        assert words(row).startswith(wanted)
        assert words(row).endswith(" ".join(form.format(value) for value in metric["per_seed"].values()))
    scratch = metrics["regimes"]["scratch"]["final"]["unlock-drawer"]
    assert f"{scratch['final']:.1f}" in text


@pytest.mark.parametrize("width", [20, 40, 70])
def test_a_narrow_terminal_loses_no_number(tmp_path: Path, width: int) -> None:
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE))
    console = Console(file=io.StringIO(), width=width)
    print_table(study, console)
    assert isinstance(console.file, io.StringIO)
    text, wide = console.file.getvalue(), printed(study)
    assert "…" not in text
    rows = [line.strip() for line in wide.splitlines() if line.startswith("  ") and re.search(r"\d", line)]
    assert len(rows) == 7
    assert set(rows) <= {line.strip() for line in text.splitlines()}


def test_runs_of_every_other_regime_have_a_table_of_their_own(tmp_path: Path) -> None:
    suite = make_suite(regimes=REGIMES, orders=2)
    study = write_study(tmp_path / "study", suite.model_copy(update={"seeds": (0, 1)}), realistic(suite))
    (study / "suite.yaml").write_text(suite.to_yaml())
    metrics = compute_metrics(study)
    rows = [line.split() for line in printed(study, metrics).splitlines()]
    for group in ("isolated-reach", "scratch-total", "sequential-order2", "sequential-without-open-drawer"):
        [(task, end)] = list(metrics["regimes"][group]["final"].items())[-1:]
        row = [group, task, f"{end['final']:.1f}", f"{end['final_success']:.0%}", *"2 of 3".split()]
        assert row in rows
    start = [row[:2] for row in rows].index(["joint", "reach"])
    assert [row[-3] for row in rows[start + 1 : start + 4]] == list(TASKS[1:])
    assert not any(row[:1] == ["scratch"] for row in rows)


def test_without_a_sequential_run_scratch_is_among_the_other_runs(tmp_path: Path) -> None:
    study = study_of(tmp_path, lambda *_: 12.5, regimes=["scratch", "joint"])
    assert "scratch unlock-drawer 12.5 0% 3 of 3" in words(printed(study))


def test_it_says_what_the_numbers_mean_and_where_the_files_are(tmp_path: Path) -> None:
    study = study_of(
        tmp_path, lambda r, s, t, step: 80.0 if step <= 80 else 0.0, tasks=("reach", "unlock-drawer"), budget=80
    )
    text = words(printed(study))
    assert "on average over the rest of the training, 94% of the score reached on it was lost." in text
    assert "Not the BWT of Lopez-Paz and Ranzato (2017), which compares two points and is higher-is-better." in text
    assert "3 seeds are too few for it to hold 95% of the time" in text
    assert f"files in {study}: metrics.json".replace(" ", "") in text.replace(" ", "")


@pytest.mark.parametrize(
    ("lead", "sentence"),
    [
        (15.0, "practising first was worth +15.0 points of score on unlock-drawer, averaged over its training."),
        (-15.0, "practising first cost 15.0 points of score on unlock-drawer, averaged over its training."),
        (0.04, "practising first was worth less than 0.1 points of score on unlock-drawer,"),
        (-0.04, "practising first cost less than 0.1 points of score on unlock-drawer,"),
    ],
)
def test_the_sentence_on_practice_has_the_sign_of_fwt(tmp_path: Path, lead: float, sentence: str) -> None:
    study = study_of(tmp_path, lambda regime, s, t, step: 50 + lead * (regime == "sequential"))
    assert sentence in words(printed(study))


def test_practice_that_changed_nothing_is_no_gain(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE, realistic(SUITE))
    metrics = compute_metrics(study)
    metrics["metrics"]["fwt"]["value"] = 0.0
    assert "practising first made no difference on unlock-drawer" in words(printed(study, metrics))


def test_no_zero_is_negative(tmp_path: Path) -> None:
    study = study_of(tmp_path, lambda r, s, task, step: -0.01 if task == "reach" else 50.0)
    assert "reach has no D_i and does not enter BWT: score 0.0 at its own end, not above 0." in words(printed(study))


def test_numbers_of_an_agent_that_learnt_nothing_are_said_to_mean_nothing(tmp_path: Path) -> None:
    sentence = "No task was learnt, none to a C_i of 10: these numbers mean nothing yet."
    assert sentence in words(printed(study_of(tmp_path / "none", lambda *_: 3.0)))
    assert sentence not in words(printed(study_of(tmp_path / "some", realistic(SUITE))))


def test_one_seed_has_no_spread(tmp_path: Path) -> None:
    text = words(printed(study_of(tmp_path, realistic(SUITE), seeds=[4])))
    assert "study, 1 of 1 seed " in text and "1 seeds" not in text
    assert "one seed gives no spread" in text and "range over seeds first" not in text
    [row] = [line for line in printed(tmp_path / "study").splitlines() if line.startswith("  BWT ")]
    assert row.count(" to ") == 1


def test_a_seed_without_a_value_of_its_own_is_explained(tmp_path: Path) -> None:
    def score(regime: str, seed: int, task: str, step: int) -> float:
        return -5.0 if seed == 1 else 60.0

    text = words(printed(study_of(tmp_path, score)))
    assert "3 of 3 0.0 – 0.0" in text
    assert "– a seed that has no value alone; its curves count in the average all the same." in text


def test_seeds_that_disagree_on_the_sign_of_fwt_are_told(tmp_path: Path) -> None:
    study = study_of(tmp_path, lambda regime, seed, t, step: 50.0 + (seed - 0.5) * (regime == "sequential"))
    assert "; the seeds disagree on the sign." in words(printed(study))


def test_nothing_forgotten_is_said_plainly(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE, lambda r, s, t, step: 50.0 + step, spread=0.0)
    assert "no task's score ever fell below what it was at the task's own end" in words(printed(study))


def test_the_other_metrics_are_listed_under_the_table(tmp_path: Path) -> None:
    study = study_of(tmp_path, realistic(SUITE))
    metrics = compute_metrics(study)
    acc = metrics["metrics"]["acc"]
    metrics["metrics"] |= {
        "worst": acc | {"value": -0.01},
        "matrix": acc | {"value": [[1.0]]},
        "lunar": acc | {"value": None, "reason": "needs a moon"},
    }
    text = words(printed(study, metrics))
    assert f"Also: acc {acc['value']:.1f}, worst 0.0; etude metrics prints all, metrics.json has their seeds." in text
    assert "lunar is undefined: needs a moon." in text


def test_six_seeds_put_the_interval_first_and_trust_it(tmp_path: Path) -> None:
    study = study_of(tmp_path, realistic(SUITE), seeds=range(6))
    metrics = compute_metrics(study)
    text = printed(study, metrics)
    interval = metrics["metrics"]["bwt"]["interval"]
    assert re.search(rf"BWT +[\d.]+ +{interval['low']:.1f} to {interval['high']:.1f}", text)
    assert "95% interval" in text and "too few" not in text


def test_undefined_metrics_show_their_reason(tmp_path: Path) -> None:
    text = words(printed(study_of(tmp_path, lambda *_: -5.0, regimes=["sequential"])))
    assert "BWT is undefined: no task was learnt: none scored above the floor at its own end." in text
    assert "FWT is undefined: needs the scratch regime." in text
    assert "not learnt" in text


def test_bwt_gated_is_shown_where_it_differs(tmp_path: Path) -> None:
    same = study_of(tmp_path / "same", realistic(SUITE))
    assert "BWT gated" not in printed(same)

    def score(regime: str, seed: int, task: str, step: int) -> float:
        own = 6.0 if task == "reach" else 80.0
        return own if step <= 80 else own / 2

    differs = study_of(tmp_path / "differs", score)
    metrics = compute_metrics(differs)
    text = printed(differs, metrics)
    assert re.search(rf"BWT gated +{metrics['metrics']['bwt_gated']['value']:.1f} ", text)
    assert "BWT gated counts only tasks with C_i of 10 or more" in words(text)


def test_missing_runs_are_counted_wherever_a_number_is_shown(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE.model_copy(update={"seeds": (0, 1)}), realistic(SUITE))
    (study / "suite.yaml").write_text(SUITE.to_yaml())
    write_run(study, SUITE, "scratch", 2, realistic(SUITE))
    text = printed(study)
    assert "study, 2 of 3 seeds" in text
    assert "scratch, 3 of 3" in text
    assert [line.count("2 of 3") for line in text.splitlines() if line.startswith(("  BWT ", "  FWT "))] == [1, 1]
    assert "warning: sequential-seed2 does not count: pending" in words(text)


def test_nothing_done_is_told_without_a_table(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", SUITE.model_copy(update={"seeds": ()}), realistic(SUITE))
    (study / "suite.yaml").write_text(SUITE.to_yaml())
    text = words(printed(study))
    assert "study: no sequential run is finished (0 of 3 seeds)." in text
    assert "BWT is undefined: no seed has finished sequential." in text


def test_long_names_still_fit(tmp_path: Path) -> None:
    tasks = ("a-primitive-with-a-rather-long-name-indeed", "a-composition-whose-name-is-even-longer-than-that")
    study = study_of(tmp_path, lambda *_: 1234.5, tasks=tasks, seeds=range(10))
    assert "1234.5" in printed(study)


def test_names_in_brackets_are_not_markup(tmp_path: Path) -> None:
    study = write_study(tmp_path / "study [red]", SUITE, realistic(SUITE))
    assert "[red]" in printed(study)

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from etude.curriculum.metrics import backward_transfer, forward_transfer
from etude.curriculum.metrics.compute import measure
from etude.curriculum.metrics.curves import Curves, load_curves
from etude.curriculum.metrics.registry import Undefined, Value, get_metric
from etude.curriculum.metrics.sensitivity import repeats
from etude.curriculum.metrics.view import StudyView
from tests.curriculum.metrics.fake import curves_of, value_of
from tests.curriculum.studies import make_suite, write_study

TASKS = ("reach", "unlock-drawer")
REACH = (0, 20, 50, 60, 80, 40, 70, 30, 20)
LAST = (0, 10, 15, 20, 30, 40, 10, 60, 90)
SCRATCH = (0, 5, 20, 40, 80)


def study(seeds: int = 1) -> Curves:
    suite = make_suite(TASKS, 40, every=10, episodes=1, seeds=range(seeds))
    steps = range(0, 90, 10)
    scores = {
        "sequential": {(s, "reach"): float(x) for s, x in zip(steps, REACH, strict=True)}
        | {(s, "unlock-drawer"): float(x) for s, x in zip(steps, LAST, strict=True)},
        "scratch": {(s, "unlock-drawer"): float(x) for s, x in zip(range(0, 50, 10), SCRATCH, strict=True)},
    }
    return curves_of(suite, [scores] * seeds)


def test_every_second_checkpoint_keeps_the_ends() -> None:
    kept = [0, 2, 4, 6, 8]
    steps, ends = np.arange(0, 90, 10)[kept], [40, 80]
    rows = np.array([REACH, LAST], dtype=float)[:, kept]
    assert value_of("bwt_every_second", study()) == pytest.approx(backward_transfer(steps, rows, ends).value)
    fwt = forward_transfer([0, 20, 40], [30, 10, 90], [0, 20, 80])
    assert value_of("fwt_every_second", study()) == pytest.approx(fwt)


def test_every_fourth_checkpoint_leaves_the_ends_alone() -> None:
    rows = np.array([REACH, LAST], dtype=float)[:, [0, 4, 8]]
    assert value_of("bwt_every_fourth", study()) == pytest.approx(backward_transfer([0, 40, 80], rows, [40, 80]).value)
    assert value_of("fwt_every_fourth", study()) == pytest.approx(forward_transfer([0, 40], [30, 90], [0, 80]))


def test_an_evaluation_that_repeats_itself_makes_no_noise() -> None:
    assert repeats(study()) is True
    assert value_of("bwt_noise", study()) == 0


def test_without_a_second_look_at_the_untrained_agent_the_noise_is_unknown() -> None:
    curves = study()
    alone = replace(curves, regimes={"sequential": curves.regimes["sequential"]})
    assert repeats(alone) is None
    found = get_metric("bwt_noise").function(StudyView(alone, (0,)))
    assert isinstance(found, Undefined)


def test_the_noise_is_what_an_unchanged_policy_is_measured_to_lose() -> None:
    """Evaluations of 8 episodes, drawn from a policy whose returns vary: its bwt by simulation, against the metric."""
    generator = np.random.default_rng(0)
    suite = make_suite(TASKS, 40, every=10, episodes=8, seeds=[0])
    curves = study()
    records = {
        name: replace(r, returns=generator.normal(60, 20, (*r.returns.shape[:3], 8)))
        for name, r in curves.regimes.items()
    }
    own = records["sequential"].returns[0, 0, 4]
    assert repeats(replace(curves, regimes=records)) is False
    found = get_metric("bwt_noise").function(StudyView(replace(curves, suite=suite, regimes=records), (0,)))
    assert isinstance(found, Value)
    simulated = []
    for _ in range(4000):
        scores = [float(generator.choice(own, 8).mean()) for _ in range(5)]
        share = backward_transfer([40, 50, 60, 70, 80], [scores, scores], [40, 80]).value
        simulated.append(share)
    assert found.value == pytest.approx(np.mean(simulated), rel=0.15)
    assert found.value > 1


def test_the_noise_of_bwt_is_the_mean_of_that_of_the_learnt_tasks(tmp_path: Path) -> None:
    """Three tasks, one of which is never learnt, in environments whose every evaluation is another."""
    suite = make_suite(("reach", "press-button", "unlock-drawer"), 40, every=10, episodes=8)
    study = write_study(tmp_path / "study", suite, lambda r, s, task, step: -9.0 if task == "reach" else 60.0, spread=9)
    curves = load_curves(study)
    measured = measure(curves)
    noise = {task: entry["D_noise"] for task, entry in measured["tasks"].items()}
    assert noise["reach"] is noise["unlock-drawer"] is None
    assert noise["press-button"] == measured["metrics"]["bwt_noise"]["value"] > 1
    untrained = curves.regimes["sequential"].returns[:, -1, 0]
    curves.regimes["scratch"].returns[:, -1, 0] = untrained
    again = measure(replace(curves, found={}))
    assert again["tasks"]["press-button"]["D_noise"] == again["metrics"]["bwt_noise"]["value"] == 0


def test_the_noise_is_the_same_whenever_it_is_measured() -> None:
    assert value_of("bwt_noise", study(2)) == value_of("bwt_noise", study(2))

from typing import Any

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from etude.curriculum.metrics import metric_names
from etude.curriculum.metrics.cost import COSTS
from etude.curriculum.metrics.view import StudyView
from etude.curriculum.suite import Suite
from tests.curriculum.metrics import slower
from tests.curriculum.metrics.fake import Scores, curves_of, studies, value_of

quick = settings(max_examples=25, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
ON_SUCCESS = ("cw_performance", "cw_forgetting", "cw_forward_transfer")


def agrees(found: Any, wanted: Any) -> bool:
    if wanted is None or found is None:
        return wanted is found
    as_floats = np.asarray(wanted, np.float64)
    return np.allclose(np.asarray(found, np.float64), as_floats, rtol=1e-6, atol=1e-6, equal_nan=True)


@quick
@given(studies())
def test_every_metric_is_what_plain_loops_make_of_the_same_scores(study: tuple[Suite, Scores]) -> None:
    suite, scores = study
    curves = curves_of(suite, [scores])
    for name, slow in slower.SLOW.items():
        found, wanted = value_of(name, curves), slow(suite.tasks, suite.ends, scores)
        assert agrees(found, wanted), f"{name}: {found}, by loops {wanted}"


@quick
@given(studies())
def test_the_arrays_are_what_plain_loops_make_of_the_same_scores(study: tuple[Suite, Scores]) -> None:
    suite, scores = study
    curves = curves_of(suite, [scores])
    wanted = [[slower.at(scores, suite.ends, i, task) for task in suite.tasks] for i in range(len(suite.tasks) + 1)]
    assert agrees(value_of("score_matrix", curves), wanted)
    assert agrees(value_of("interference", curves), slower.interference(suite.tasks, suite.ends, scores))
    assert agrees(value_of("leave_one_out", curves), slower.leave_one_out(suite.tasks, suite.ends, scores))


@quick
@given(studies(most_orders=3))
def test_the_metrics_of_several_orders_are_what_plain_loops_make_of_each(study: tuple[Suite, Scores]) -> None:
    suite, scores = study
    curves = curves_of(suite, [scores])
    for name in ("bwt", "bwt_gated", "fwt", "fwt_total"):
        each = slower.over_orders(getattr(slower, name), suite.orders, suite.tasks[-1], suite.budget, scores)
        assert agrees(value_of(f"{name}_orders", curves), each), name
        assert agrees(value_of(f"{name}_orders_mean", curves), each and slower.mean(each)), name
        assert agrees(value_of(f"{name}_orders_sd", curves), each and slower.spread(each)), name


@quick
@given(studies(0, 100))
def test_continual_worlds_metrics_are_what_plain_loops_make_of_success_rates(study: tuple[Suite, Scores]) -> None:
    suite, scores = study
    curves = curves_of(suite, [scores], successes=True)
    for name in ON_SUCCESS:
        assert agrees(value_of(name, curves), getattr(slower, name)(suite.tasks, suite.ends, scores)), name


@quick
@given(studies(), st.integers(2, 1000))
def test_rescaling_the_steps_changes_nothing_but_the_times(study: tuple[Suite, Scores], factor: int) -> None:
    suite, scores = study
    longer = suite.model_copy(
        update={
            "budget": {task: factor * steps for task, steps in suite.budget.items()},
            "evaluation": suite.evaluation.model_copy(
                update={
                    "every": factor * suite.evaluation.every,
                    "also": tuple(factor * offset for offset in suite.evaluation.also),
                }
            ),
        }
    )
    stretched = {group: {(factor * s, task): x for (s, task), x in cells.items()} for group, cells in scores.items()}
    before, after = curves_of(suite, [scores]), curves_of(longer, [stretched])
    for name in slower.SLOW:
        one, other = value_of(name, before), value_of(name, after)
        if name.startswith("time_to_threshold") and one is not None:
            one *= factor
        assert agrees(other, one), name


@quick
@given(studies())
def test_the_order_of_the_seeds_changes_nothing(study: tuple[Suite, Scores]) -> None:
    suite, scores = study
    second = {group: {cell: 100 - x for cell, x in cells.items()} for group, cells in scores.items()}
    values = []
    for seeds in ([scores, second], [second, scores]):
        curves = curves_of(suite.model_copy(update={"seeds": (0, 1)}), seeds)
        values.append({name: value_of(name, curves) for name in slower.SLOW})
    for name in values[0]:
        assert agrees(values[0][name], values[1][name]), name


@quick
@given(studies(), st.floats(1, 120))
def test_an_unchanged_policy_loses_and_gains_exactly_nothing(study: tuple[Suite, Scores], score: float) -> None:
    suite, scores = study
    same = {group: dict.fromkeys(cells, score) for group, cells in scores.items()}
    curves = curves_of(suite, [same], successes=True)
    for name in (
        *("bwt", "fwt", "fwt_total", "bwt_lopez_paz", "fwt_lopez_paz", "fwt_isolated", "forgetting", "intransigence"),
        *("relative_forgetting", "intransigence_isolated", "stability_gap", "curve_forgetting", "jumpstart"),
        *("asymptote", "isolated_forgetting", "zero_shot_transfer", "l2_performance_maintenance", "cw_forgetting"),
        *("l2_forward_transfer", "l2_backward_transfer", "curve_forgetting_early"),
    ):
        assert value_of(name, curves) == 0, name
    assert value_of("time_to_threshold", curves) == (0 if score >= 50 else None)


@quick
@given(studies())
def test_swapping_the_regimes_turns_the_sign_of_forward_transfer(study: tuple[Suite, Scores]) -> None:
    suite, scores = study
    begin, last = suite.ends[-2], suite.tasks[-1]
    swapped: dict[str, dict[tuple[int, str], float]] = {group: dict(cells) for group, cells in scores.items()}
    for step, task in scores["scratch"]:
        swapped["scratch"][step, task] = scores["sequential"][begin + step, last]
        swapped["sequential"][begin + step, last] = scores["scratch"][step, task]
    before, after = curves_of(suite, [scores]), curves_of(suite, [swapped])
    for name in ("fwt", "jumpstart", "asymptote"):
        assert agrees(value_of(name, after), -value_of(name, before))


def test_every_core_metric_of_the_records_has_a_slow_counterpart() -> None:
    slow = {*slower.SLOW, *ON_SUCCESS, "score_matrix", "interference", "leave_one_out"}
    slow |= {f"{name}_orders{of}" for name in ("bwt", "bwt_gated", "fwt", "fwt_total") for of in ("", "_mean", "_sd")}
    assert set(metric_names("core")) - {*COSTS, "bwt_noise"} == slow


def test_a_view_of_one_task_defines_what_needs_only_one() -> None:
    from etude.curriculum.metrics.compute import measure
    from tests.curriculum.studies import make_suite

    suite = make_suite(("reach",), 20, episodes=1, seeds=[0], regimes=["sequential"])
    curves = curves_of(suite, [{"sequential": {(0, "reach"): 0.0, (10, "reach"): 30.0, (20, "reach"): 60.0}}])
    measured = measure(curves)["metrics"]
    assert {name: measured[name]["value"] for name in ("acc", "aia", "learning_acc", "aaa")} == {
        "acc": 60.0,
        "aia": 60.0,
        "learning_acc": 60.0,
        "aaa": 45.0,
    }
    assert measured["forgetting"]["reason"] == "needs at least 2 tasks"
    assert StudyView(curves, (0,)).tasks == ("reach",)

"""The checks of a task that need no oracle, in the order in which they are told."""

from etude.envs.checks import episodes, interface, sameness, simulator
from etude.envs.checks.check import Check, Failed, Finding, NotApplicable, check, run_checks
from etude.envs.checks.subject import Spaces, Subject

CHECKS: tuple[Check, ...] = (
    interface.plays,
    interface.passes_gymnasiums_checker,
    interface.has_the_spaces,
    interface.spec_survives_json,
    sameness.repeats,
    sameness.repeats_elsewhere,
    sameness.resets_wholly,
    sameness.leaves_generators_alone,
    sameness.batches_exactly,
    sameness.restores,
    episodes.starts_apart,
    episodes.ends_at_the_horizon,
    episodes.observes_soundly,
    episodes.keeps_privileges,
    episodes.tells_success,
    episodes.pays_within_bounds,
    episodes.simulates_quietly,
    simulator.keeps_the_model,
    simulator.is_fast,
)

__all__ = ["CHECKS", "Check", "Failed", "Finding", "NotApplicable", "Spaces", "Subject", "check", "run_checks"]

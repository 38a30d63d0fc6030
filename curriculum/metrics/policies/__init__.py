"""Metrics of the policies that a study has stored, computed after the fact; docs/metrics/policies.md."""

from etude.curriculum.metrics.policies import of_behaviour, of_features, of_weights  # noqa: F401
from etude.curriculum.metrics.policies.behaviour import (
    barrier,
    calibration_error,
    cosines,
    nearest_shares,
    off_diagonal_mean,
)
from etude.curriculum.metrics.policies.embedded import embedded
from etude.curriculum.metrics.policies.representation import (
    dormant_share,
    effective_rank,
    feature_movement,
    linear_cka,
    principal_components,
    probe_r2,
    srank,
)
from etude.curriculum.metrics.policies.represented import read_features
from etude.curriculum.metrics.policies.stored import Policies, Unmeasurable

__all__ = [
    "Policies",
    "Unmeasurable",
    "barrier",
    "calibration_error",
    "cosines",
    "dormant_share",
    "effective_rank",
    "embedded",
    "feature_movement",
    "read_features",
    "linear_cka",
    "nearest_shares",
    "off_diagonal_mean",
    "principal_components",
    "probe_r2",
    "srank",
]

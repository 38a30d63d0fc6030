"""Oracles, and the references that scores are measured against."""

import etude.oracles.tabletop  # noqa: F401  (registers their oracles)
from etude.oracles.compose import compose
from etude.oracles.measure import measure_oracle
from etude.oracles.oracle import Oracle
from etude.oracles.references import fingerprint, measure_references
from etude.oracles.registry import get_floor, get_oracle, register_floor, register_oracle
from etude.oracles.rollout import Episodes, evaluation_seeds, rollout
from etude.oracles.scores import ceiling, floor, score
from etude.oracles.sequence import SequenceOracle

__all__ = [
    "Episodes",
    "Oracle",
    "SequenceOracle",
    "ceiling",
    "compose",
    "evaluation_seeds",
    "fingerprint",
    "floor",
    "get_floor",
    "get_oracle",
    "measure_oracle",
    "measure_references",
    "register_floor",
    "register_oracle",
    "rollout",
    "score",
]

"""What is measured from a study's records."""

from etude.curriculum.metrics import (  # noqa: F401
    headline,  # isort: skip
    matrix,
    trajectory,
    transfer,
    continual_world,
    interference,
    orders,
    sensitivity,
    cost,
    policies,
)
from etude.curriculum.metrics.backward import BackwardTransfer, backward_transfer
from etude.curriculum.metrics.forward import forward_transfer
from etude.curriculum.metrics.registry import (
    Metric,
    Undefined,
    Value,
    get_metric,
    metric,
    metric_names,
    register_metric,
)

__all__ = [
    "BackwardTransfer",
    "Metric",
    "Undefined",
    "Value",
    "backward_transfer",
    "forward_transfer",
    "get_metric",
    "metric",
    "metric_names",
    "register_metric",
]

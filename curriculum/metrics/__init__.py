"""What is measured from a study's records."""

# Each registers its metrics, and they are shown in this order.
from etude.curriculum.metrics import headline, matrix, trajectory, transfer  # noqa: F401, I001
from etude.curriculum.metrics import continual_world, interference, orders, sensitivity, cost, policies  # noqa: F401
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

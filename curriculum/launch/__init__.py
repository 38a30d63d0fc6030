"""Where a study's runs are executed: side by side in worker processes of this machine, or on a cluster."""

from etude.curriculum.launch.cluster import make_cluster
from etude.curriculum.launch.local import run_study

__all__ = ["make_cluster", "run_study"]

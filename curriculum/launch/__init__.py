"""Where a study's runs are executed: side by side in worker processes of this machine."""

from etude.curriculum.launch.local import run_study

__all__ = ["run_study"]

"""Continual-learning methods: what is done around an agent so that it forgets less, or learns faster."""

from etude.curriculum.methods import clone as _clone  # noqa: F401  (registers itself)
from etude.curriculum.methods import finetune as _finetune  # noqa: F401  (registers itself)
from etude.curriculum.methods.method import Method, attach, check_method, get_method, register_method

__all__ = ["Method", "attach", "check_method", "get_method", "register_method"]

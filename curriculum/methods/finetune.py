"""Fine-tuning: every task is learnt from where the one before ended, and nothing is done against forgetting."""

from etude.curriculum.methods.method import Method, register_method


@register_method("finetune")
class Finetune(Method):
    """The baseline: no hook does anything."""

"""stack-from-table: the cube up, over the base, and down."""

from etude.oracles.tabletop.composition import CompositionOracle


class StackFromTableOracle(CompositionOracle):
    """Grasp, lift, carry and stack, as the oracles of those tasks do."""

    task = "stack-from-table"

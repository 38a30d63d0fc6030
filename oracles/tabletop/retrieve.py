"""retrieve: the drawer, the cube out of it, over the target, and down."""

from etude.oracles.tabletop.composition import CompositionOracle


class RetrieveOracle(CompositionOracle):
    """Open the drawer, grasp, lift, carry and place, as the oracles of those tasks do."""

    task = "retrieve"

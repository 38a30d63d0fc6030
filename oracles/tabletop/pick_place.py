"""pick-place: the cube up, over the target, and down."""

from etude.oracles.tabletop.composition import CompositionOracle


class PickPlaceOracle(CompositionOracle):
    """Grasp, lift, carry and place, as the oracles of those tasks do."""

    task = "pick-place"

"""put-away: the cube up, over the open drawer, and in."""

from etude.oracles.tabletop.composition import CompositionOracle


class PutAwayOracle(CompositionOracle):
    """Grasp, lift, carry and drop in, as the oracles of those tasks do."""

    task = "put-away"

"""stack: as place, but on the base."""

from etude.oracles.tabletop.place import PlaceOracle


class StackOracle(PlaceOracle):
    """Lets go just over the base, and retreats upwards."""

    task = "stack"
    lead, brake = 1.0, 0.8  # gentler at the end: a cube that is let go as it moves slides off

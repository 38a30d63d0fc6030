"""stack: as place, but on the base."""

from etude.oracles.tabletop.place import PlaceOracle


class StackOracle(PlaceOracle):
    """Lets go just over the base, and retreats upwards."""

    task = "stack"

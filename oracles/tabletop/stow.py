"""stow: the drawer, the cube into it, the drawer."""

from etude.oracles.tabletop.composition import CompositionOracle


class StowOracle(CompositionOracle):
    """Open the drawer, fetch the cube, drop it in and shut the drawer, as the oracles of those tasks do."""

    task = "stow"

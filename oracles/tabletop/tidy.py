"""tidy: the button, the drawer, the cube into it, the drawer."""

from etude.oracles.tabletop.composition import CompositionOracle


class TidyOracle(CompositionOracle):
    """Press the button, then what stow asks for, as the oracles of those tasks do."""

    task = "tidy"

"""unlock-drawer: the button, then the drawer."""

from etude.oracles.sequence import SequenceOracle


class UnlockDrawerOracle(SequenceOracle):
    """Press the button, then open the drawer, as the oracles of those two tasks do."""

    task = "unlock-drawer"

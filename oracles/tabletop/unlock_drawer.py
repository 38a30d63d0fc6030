"""unlock-drawer: the button, then the drawer."""

from etude.oracles.sequence import SequenceOracle
from etude.oracles.tabletop.open_drawer import OpenDrawerOracle
from etude.oracles.tabletop.press_button import PressButtonOracle


class UnlockDrawerOracle(SequenceOracle):
    """Press the button, then open the drawer."""

    task = "unlock-drawer"
    parts = (PressButtonOracle, OpenDrawerOracle)

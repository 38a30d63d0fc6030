"""The tabletop tasks' oracles, one a file."""

from etude.oracles.registry import register_oracle
from etude.oracles.tabletop.open_drawer import OpenDrawerOracle
from etude.oracles.tabletop.press_button import PressButtonOracle
from etude.oracles.tabletop.reach import ReachOracle
from etude.oracles.tabletop.unlock_drawer import UnlockDrawerOracle

for _oracle in (ReachOracle, PressButtonOracle, OpenDrawerOracle, UnlockDrawerOracle):
    register_oracle(_oracle)

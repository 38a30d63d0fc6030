"""The tabletop tasks' oracles, one a file."""

from etude.oracles.registry import register_oracle
from etude.oracles.tabletop.carry import CarryOracle
from etude.oracles.tabletop.close_drawer import CloseDrawerOracle
from etude.oracles.tabletop.drop_in_drawer import DropInDrawerOracle
from etude.oracles.tabletop.grasp import GraspOracle
from etude.oracles.tabletop.lift import LiftOracle
from etude.oracles.tabletop.open_drawer import OpenDrawerOracle
from etude.oracles.tabletop.pick_place import PickPlaceOracle
from etude.oracles.tabletop.place import PlaceOracle
from etude.oracles.tabletop.press_button import PressButtonOracle
from etude.oracles.tabletop.pull_lever import PullLeverOracle
from etude.oracles.tabletop.push import PushOracle
from etude.oracles.tabletop.put_away import PutAwayOracle
from etude.oracles.tabletop.reach import ReachOracle
from etude.oracles.tabletop.retrieve import RetrieveOracle
from etude.oracles.tabletop.stack import StackOracle
from etude.oracles.tabletop.stack_from_table import StackFromTableOracle
from etude.oracles.tabletop.stow import StowOracle
from etude.oracles.tabletop.tidy import TidyOracle
from etude.oracles.tabletop.unlock_drawer import UnlockDrawerOracle

for _oracle in (
    ReachOracle,
    GraspOracle,
    LiftOracle,
    CarryOracle,
    PlaceOracle,
    PushOracle,
    StackOracle,
    DropInDrawerOracle,
    PressButtonOracle,
    OpenDrawerOracle,
    CloseDrawerOracle,
    PullLeverOracle,
    UnlockDrawerOracle,
    PickPlaceOracle,
    PutAwayOracle,
    StackFromTableOracle,
    RetrieveOracle,
    StowOracle,
    TidyOracle,
):
    register_oracle(_oracle)

"""The tabletop: the scene, and one file a task."""

from etude.envs.registry import register_task
from etude.envs.tabletop.carry import Carry
from etude.envs.tabletop.close_drawer import CloseDrawer
from etude.envs.tabletop.drop_in_drawer import DropInDrawer
from etude.envs.tabletop.grasp import Grasp
from etude.envs.tabletop.lift import Lift
from etude.envs.tabletop.open_drawer import OpenDrawer
from etude.envs.tabletop.pick_place import PickPlace
from etude.envs.tabletop.place import Place
from etude.envs.tabletop.press_button import PressButton
from etude.envs.tabletop.pull_lever import PullLever
from etude.envs.tabletop.push import Push
from etude.envs.tabletop.put_away import PutAway
from etude.envs.tabletop.reach import Reach
from etude.envs.tabletop.retrieve import Retrieve
from etude.envs.tabletop.stack import Stack
from etude.envs.tabletop.stack_from_table import StackFromTable
from etude.envs.tabletop.stow import Stow
from etude.envs.tabletop.tidy import Tidy
from etude.envs.tabletop.unlock_drawer import UnlockDrawer

for _task in (
    Reach,
    Grasp,
    Lift,
    Carry,
    Place,
    Push,
    Stack,
    DropInDrawer,
    PressButton,
    OpenDrawer,
    CloseDrawer,
    PullLever,
    UnlockDrawer,
    PickPlace,
    PutAway,
    StackFromTable,
    Retrieve,
    Stow,
    Tidy,
):
    register_task(_task)

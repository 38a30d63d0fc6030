"""The tabletop: the scene, and one file a task."""

from etude.envs.registry import register_task
from etude.envs.tabletop.open_drawer import OpenDrawer
from etude.envs.tabletop.press_button import PressButton
from etude.envs.tabletop.reach import Reach
from etude.envs.tabletop.unlock_drawer import UnlockDrawer

for _task in (Reach, PressButton, OpenDrawer, UnlockDrawer):
    register_task(_task)

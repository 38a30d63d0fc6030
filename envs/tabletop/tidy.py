"""tidy: the button releases the drawer's lock, then the cube is stowed."""

from etude.envs.tabletop.press_button import PressButton
from etude.envs.tabletop.starts import TABLE_WORDS
from etude.envs.tabletop.stow import Stow
from etude.envs.tabletop.unlock_drawer import UnlockDrawer


class Tidy(UnlockDrawer):
    """Press the button that unlocks the drawer, then open it, put the cube in, and shut it."""

    id = "tidy"
    stages = (PressButton(), *Stow.stages)
    horizon = 140
    starts = f"drawer locked; {TABLE_WORDS}"

"""reach: straight to the goal."""

from __future__ import annotations

from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.motion import Floats, TabletopOracle


class ReachOracle(TabletopOracle):
    """Keeps the finger tips on their way to the goal, and there."""

    task = "reach"

    def aim(self, privileged: Privileged, ahead: Floats) -> tuple[Floats, bool]:
        """At the goal."""
        return privileged["goal"], False

"""What tabletop tasks of one's own and their oracles are written with, in one place."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from etude.envs.tabletop.composition import Composition
from etude.envs.tabletop.primitive import Primitive
from etude.envs.tabletop.rewards import closeness
from etude.envs.tabletop.scene import Floats, Ids, Scene
from etude.envs.tabletop.starts import TABLE_WORDS, apart, arrange, drawn, hold, hover
from etude.oracles.oracle import Privileged
from etude.oracles.tabletop.composition import CompositionOracle
from etude.oracles.tabletop.cube import CubeOracle
from etude.oracles.tabletop.motion import TabletopOracle

Bools = NDArray[np.bool_]
Rngs = Sequence[np.random.Generator]

__all__ = [
    "TABLE_WORDS",
    "Bools",
    "Composition",
    "CompositionOracle",
    "CubeOracle",
    "Floats",
    "Ids",
    "Primitive",
    "Privileged",
    "Rngs",
    "Scene",
    "TabletopOracle",
    "apart",
    "arrange",
    "closeness",
    "drawn",
    "hold",
    "hover",
]

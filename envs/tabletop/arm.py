"""The arm's inverse kinematics, in closed form: the gripper straight down, the elbow in the vertical plane."""

import numpy as np
from numpy.typing import NDArray

SHOULDER = 0.333
UPPER = np.array([0.316, 0.0825])
LOWER = np.array([0.384, 0.0825])
WRIST = np.array([0.088, 0.107 + 0.115])


def joint_angles(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Angles of the seven joints, (M, 7) radians, that bring the tool centre point there, unturned.

    Forearm and upper arm are a triangle's sides from Franka's published dimensions: each a length along the link and
    an offset across it.

    Args:
        points: (M, 3) metres, at most 0.7 m from the shoulder.
    """
    x, y, z = (np.ascontiguousarray(axis) for axis in points.T)
    across = np.sqrt(x * x + y * y) - WRIST[0]
    up = z + WRIST[1] - SHOULDER
    reach = np.sqrt(across * across + up * up)
    (upper, upper_bend), (lower, lower_bend) = ((np.hypot(*link), np.arctan2(*link[::-1])) for link in (UPPER, LOWER))
    slope = np.arctan2(across, up)
    shoulder = np.arccos((upper**2 + reach**2 - lower**2) / (2 * upper * reach))
    wrist = np.arccos((lower**2 + reach**2 - upper**2) / (2 * lower * reach))
    lean = slope - shoulder - upper_bend
    dip = slope + wrist + lower_bend
    turn = np.arctan2(y, x)
    none = np.zeros_like(turn)
    return np.stack([turn, lean, none, lean - dip, none, dip, turn + np.pi / 4], axis=1)

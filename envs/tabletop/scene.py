"""The tabletop in words: N simulations of the robot and its furniture in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import mujoco
import numpy as np
from mujoco.batch import Batch
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ids = NDArray[np.intp]

SUBSTEPS = 3
SETPOINT_RATE = 0.03
SETPOINT_LEASH = 0.06
WORKSPACE = np.array([[0.28, -0.42, 0.015], [0.64, 0.4, 0.37]])
FINGER_OPEN = 0.04

BUTTON_PRESSED = 0.012
DRAWER_TRAVEL = 0.16
DRAWER_OPEN = 0.8 * DRAWER_TRAVEL

CUBE_X, CUBE_Y, CUBE_YAW = (0.4, 0.6), (-0.08, 0.17), np.pi / 4
GOAL_LOW, GOAL_HIGH, GOAL_CLEARANCE = np.array([0.31, -0.18, 0.05]), np.array([0.61, 0.18, 0.35]), 0.1
FURNITURE_SHIFT = 0.04
HOME_TCP = np.array([0.45, 0.0, 0.22])


def load_model() -> mujoco.MjModel:
    """The one model of all tabletop tasks."""
    return mujoco.MjModel.from_xml_string((files("etude.envs.tabletop") / "scene.xml").read_text())


class Scene:
    """What the tasks ask of the simulations, and what they may change; every word is (N, ...), metres and radians."""

    def __init__(self, simulations: int, threads: int = 1) -> None:
        self.model = model = load_model()
        self.batch = Batch(model, simulations, threads, persistent=True)
        self.size = simulations
        self._site = {name: model.site(name).id for name in ("tcp", "handle", "button", "lever")}
        self._mocap = {
            name: model.body(name).mocapid[0] for name in ("cabinet", "button_base", "lever_base", "goal", "pad")
        }
        self._place = {name: model.body(name).pos.copy() for name in self._mocap}
        self._qpos = {model.joint(i).name: model.jnt_qposadr[i] for i in range(model.njnt)}
        self._sites = self.batch.bind("site_xpos")
        self._sensordata = self.batch.bind("sensordata")

    @property
    def tcp(self) -> Floats:
        """Tool centre point between the finger tips, (N, 3)."""
        return self._sites[:, self._site["tcp"]]

    @property
    def setpoint(self) -> Floats:
        """Where the tool centre point is sent, (N, 3)."""
        return self.batch.ctrl[:, :3]

    @property
    def fingers(self) -> Floats:
        """How far each finger is from closed, (N, 2), at most FINGER_OPEN."""
        return self.batch.qpos[:, self._qpos["left_finger"] : self._qpos["right_finger"] + 1]

    @property
    def cube(self) -> Floats:
        """The cube's centre, (N, 3)."""
        adr = self._qpos["cube"]
        return self.batch.qpos[:, adr : adr + 3]

    @property
    def cube_yaw(self) -> Floats:
        """The cube's turn about the vertical, (N,)."""
        adr = self._qpos["cube"] + 3
        w, x, y, z = self.batch.qpos[:, adr : adr + 4].T
        return np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))

    @property
    def grasped(self) -> NDArray[np.bool_]:
        """Whether both pads touch the cube, (N,)."""
        return (self._sensordata[:, :2] > 0).all(axis=1)

    @property
    def handle(self) -> Floats:
        """The middle of the drawer's handle, (N, 3)."""
        return self._sites[:, self._site["handle"]]

    @property
    def drawer_opening(self) -> Floats:
        """How far the drawer is pulled out, (N,), at most DRAWER_TRAVEL."""
        return self.batch.qpos[:, self._qpos["drawer"]]

    @property
    def drawer_locked(self) -> Floats:
        """The drawer's lock, (N,): 1 while it holds; assign to it."""
        return self.batch.eq_active[:, 0]

    @property
    def button(self) -> Floats:
        """The top of the button, (N, 3)."""
        return self._sites[:, self._site["button"]]

    @property
    def button_depth(self) -> Floats:
        """How far the button is pushed in, (N,)."""
        return -self.batch.qpos[:, self._qpos["button"]]

    @property
    def lever(self) -> Floats:
        """The tip of the lever, (N, 3)."""
        return self._sites[:, self._site["lever"]]

    @property
    def lever_angle(self) -> Floats:
        """The lever's angle from upright, (N,)."""
        return self.batch.qpos[:, self._qpos["lever"]]

    @property
    def goal(self) -> Floats:
        """The goal in the air, (N, 3); assign to it in `reset`."""
        return self.batch.mocap_pos[:, self._mocap["goal"]]

    @property
    def pad(self) -> Floats:
        """The middle of the target pad on the table, (N, 3); assign to it in `reset`."""
        return self.batch.mocap_pos[:, self._mocap["pad"]]

    @property
    def latch(self) -> Floats:
        """Marks that outlast what set them, (N, L), 0 at an episode's start."""
        return self.batch.userdata

    @staticmethod
    def distance(a: Floats, b: Floats) -> Floats:
        """Euclidean distance between points, (N,)."""
        d = a - b
        return np.sqrt((d * d).sum(axis=1))

    def home(self, ids: Ids) -> None:
        """Put the simulations `ids` at home, every latch and lock open."""
        self.batch.reset(ids, keyframe=0, stage=mujoco.mjtStage.mjSTAGE_NONE)

    def arrange(self, ids: Ids, rngs: Sequence[np.random.Generator]) -> None:
        """Vary the table: cube, goal, pad, cabinet, button and lever, each row from its own generator."""
        u = np.array([rng.random(14) for rng in rngs])
        b = self.batch
        adr = self._qpos["cube"]
        b.qpos[ids, adr] = CUBE_X[0] + (CUBE_X[1] - CUBE_X[0]) * u[:, 0]
        b.qpos[ids, adr + 1] = CUBE_Y[0] + (CUBE_Y[1] - CUBE_Y[0]) * u[:, 1]
        yaw = CUBE_YAW * (2 * u[:, 2] - 1)
        b.qpos[ids, adr + 3] = np.cos(yaw / 2)
        b.qpos[ids, adr + 6] = np.sin(yaw / 2)
        goal = GOAL_LOW + (GOAL_HIGH - GOAL_LOW) * u[:, 3:6]
        away = goal - HOME_TCP
        gap = np.sqrt((away * away).sum(axis=1, keepdims=True))
        b.mocap_pos[ids, self._mocap["goal"]] = np.where(
            gap < GOAL_CLEARANCE, HOME_TCP + away / gap * GOAL_CLEARANCE, goal
        )
        b.mocap_pos[ids, self._mocap["pad"], 0] = CUBE_X[0] + (CUBE_X[1] - CUBE_X[0]) * u[:, 6]
        b.mocap_pos[ids, self._mocap["pad"], 1] = CUBE_Y[0] + (CUBE_Y[1] - CUBE_Y[0]) * u[:, 7]
        for k, name in enumerate(("cabinet", "button_base", "lever_base")):
            shift = FURNITURE_SHIFT * (2 * u[:, 8 + 2 * k : 10 + 2 * k] - 1)
            b.mocap_pos[ids, self._mocap[name], :2] = self._place[name][:2] + shift

    def refresh(self, ids: Ids) -> None:
        """Make the derived words of `ids` current after their state was written."""
        self.batch.forward(ids, stage=mujoco.mjtStage.mjSTAGE_VEL)

    def control(self, actions: Floats) -> None:
        """Move the setpoint by `actions[:, :3]` (in [-1, 1]) and open or close the gripper (`actions[:, 3] > 0`)."""
        tcp, ctrl = self.tcp, self.batch.ctrl
        setpoint = np.clip(ctrl[:, :3] + SETPOINT_RATE * actions[:, :3], tcp - SETPOINT_LEASH, tcp + SETPOINT_LEASH)
        ctrl[:, :3] = np.clip(setpoint, WORKSPACE[0], WORKSPACE[1])
        ctrl[:, 6:] = np.where(actions[:, 3:] > 0, 0.0, FINGER_OPEN)

    def step(self) -> None:
        """One control step."""
        self.batch.step(nstep=SUBSTEPS, stage=mujoco.mjtStage.mjSTAGE_VEL)

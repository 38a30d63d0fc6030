"""The tabletop in words: N simulations of the robot and its furniture in one batch."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from etude.envs.errors import RequestError, nearest
from etude.envs.tabletop.arm import joint_angles
from etude.envs.tabletop.model import simulated_model

Floats = NDArray[np.float64]
Ids = NDArray[np.intp]

CONTROL_RATE = 25
SUBSTEPS = 3

SETPOINT_RATE = 0.03
SETPOINT_LEASH = 0.06
WORKSPACE = np.array([[0.28, -0.42, 0.015], [0.64, 0.4, 0.37]])
HOME = np.array([0.45, 0.0, 0.22])
FINGER_OPEN = 0.04

CUBE_HALF = 0.02
HALF_DIAGONAL = 2**0.5 * CUBE_HALF
TOUCH_DEPTH = 0.025
LET_GO = 0.03
GRIP = 0.5
AROUND, AWAY = 0.025, 0.06
SQUEEZE = 0.0006
SETTLING = 3

BUTTON_PRESSED = 0.012
DRAWER_TRAVEL = 0.16
DRAWER_OPEN = 0.8 * DRAWER_TRAVEL
PRESSED_BUTTON = np.array([0, 0, 0.055 - BUTTON_PRESSED])
SHUT_HANDLE = np.array([0, 0.17, 0.086])
DRAWER_INSIDE = np.array([[-0.096, -0.25, -0.07], [0.096, -0.078, 0.03]])

_heard: list[str] = []  # the first warning since an episode began
_PLACE = re.compile(r"(QPOS|QVEL|QACC|,) at DOF (\d+)")

Word = TypeVar("Word", bound=NDArray[Any])
Known = dict[Any, Any]


def once(read: Callable[[Scene], Word]) -> Callable[[Scene], Word]:
    """Let a word of the scene be worked out once a control step; what it gives is read-only.

    Only for words that follow from the simulation alone, not from goals or latches, which move within a step.
    """
    return _kept("known", read)


def once_at_rest(read: Callable[[Scene], Word]) -> Callable[[Scene], Word]:
    """Let a word that follows from goals or latches too be worked out once while they rest; it is read-only."""
    return _kept("resting", read)


def _kept(place: str, read: Callable[[Scene], Word]) -> Callable[[Scene], Word]:
    @wraps(read)
    def word(scene: Scene) -> Word:
        known: Known | None = getattr(scene, place)
        if known is None:
            return read(scene)
        found: Word | None = known.get(read)
        if found is None:
            found = known[read] = read(scene)
            found.flags.writeable = False
        return found

    return word


def length(ways: Floats) -> Floats:
    """Euclidean length of ways, (N, 3), as (N,)."""
    x, y, z = (ways * ways).T
    along: Floats = np.sqrt(x + y + z)
    return along


def share(part: Floats) -> Floats:
    """How much of it is done, in [0, 1]."""
    done: Floats = np.minimum(np.maximum(part, 0), 1)
    return done


def within(points: Floats, box: Floats) -> NDArray[np.bool_]:
    """Whether points, (N, 3), lie inside a box of (2, 3) corners, (N,)."""
    x, y, z = ((points > box[0]) & (points < box[1])).T
    inside: NDArray[np.bool_] = x & y & z
    return inside


def _hear(warning: str) -> None:
    """Keep a warning of MuJoCo's, which would print it, and write it to a file in the current folder."""
    if not _heard:
        _heard.append(warning)


class Scene:
    """What tasks ask of the simulations, in metres and radians, world frame: z = 0 is the table, the robot the origin.

    The words are live views: current after every control step, and those marked (w) may be written row by row in a
    task's `reset` or `advance`. Copy what must outlast the step.

    Attributes:
        size: number of simulations, N.
        tcp: (N, 3) tool centre point, between the finger tips.
        setpoint: (N, 3) where the tool centre point is sent.
        fingers: (N, 2) how far each finger is from closed, at most FINGER_OPEN.
        cube: (N, 3) the cube's centre (w).
        cube_quaternion: (N, 4) its orientation, w first (w).
        base: (N, 3) the second cube's centre, where there is one (w).
        base_quaternion: (N, 4) its orientation (w).
        handle: (N, 3) the middle of the drawer's handle.
        drawer_opening: (N,) how far the drawer is pulled out, at most DRAWER_TRAVEL (w).
        drawer_locked: (N,) 1 while the lock holds the drawer shut, else 0 (w).
        button: (N, 3) the middle of the button's top.
        button_depth: (N,) how far the button is pushed in.
        lever: (N, 3) the tip of the lever.
        lever_angle: (N,) the lever's angle from upright (w).
        goal: (N, 3) the goal of what the task asks for now: a point to bring the finger tips, or an object, to (w).
        pad: (N, 3) the middle of the target pad on the table (w).
        cabinet, button_base, lever_base: (N, 3) where the furniture stands (w).
        latch: (N, L) marks that outlast what set them, 0 at an episode's start (w).
        everywhere: (N,) True, read-only.
        known: words that follow from the simulation, as far as they are worked out; None before they can be.
        resting: the same of what follows from goals and latches as well, while they rest, from the last of a control
            step's changes to its end; else None.
    """

    def __init__(self, simulations: int, threads: int = 1, cubes: int = 1, furniture: str = "") -> None:
        """Make the simulations, all at home.

        Args:
            simulations: N.
            cubes: 1, or 2 with a base to stack the cube on.
            threads: simulator threads; the results are the same bits at any number.
            furniture: more of it, in MJCF.

        Raises:
            RequestError: the furniture is not MJCF that fits into the scene.
        """
        import mujoco
        from mujoco.batch import Batch

        self.velocity_stage = mujoco.mjtStage.mjSTAGE_VEL.value
        self._no_stage = mujoco.mjtStage.mjSTAGE_NONE.value
        self.known: Known | None = None
        self.resting: Known | None = None
        self._warning_names = [str(name).removeprefix("mjWARN_") for name in mujoco.mjtWarning.__members__]
        if mujoco.get_mju_user_warning() is None:
            mujoco.set_mju_user_warning(_hear)
        self.size = simulations
        self._furnished = bool(furniture)
        self.model = model = simulated_model(cubes, furniture)
        self.batch = batch = Batch(model, simulations, threads, persistent=True)

        sites: Floats = batch.bind("site_xpos")
        qpos: Floats = batch.bind("qpos")
        qvel: Floats = batch.bind("qvel")
        mocap: Floats = batch.bind("mocap_pos")
        self._ctrl: Floats = batch.bind("ctrl")
        self._touches: Floats = batch.bind("sensordata")
        self._sites, self._qpos, self._mocap = sites, qpos, mocap
        self.everywhere = np.ones(simulations, np.bool_)
        self.everywhere.flags.writeable = False
        # Whole tables, since numpy is slow at broadcasting short rows.
        self._least, self._most = np.tile(WORKSPACE[:, None], (1, simulations, 1))

        def site(name: str) -> Floats:
            return sites[:, model.site(name).id]

        def joint(name: str) -> int:
            return int(model.joint(name).qposadr[0])

        def speeds(name: str, size: int) -> Floats:
            first = int(model.joint(name).dofadr[0])
            return qvel[:, first : first + size]

        def stand(name: str) -> Floats:
            return mocap[:, int(model.body(name).mocapid[0])]

        cube = joint("cube")
        self._arm = qpos[:, joint("joint1") : joint("joint7") + 1]
        self._cube_velocity, self._finger_velocity = speeds("cube", 3), speeds("left_finger", 2)
        self.tcp, self.setpoint = site("tcp"), self._ctrl[:, :3]
        self.fingers = qpos[:, joint("left_finger") : joint("right_finger") + 1]
        self.cube, self.cube_quaternion = qpos[:, cube : cube + 3], qpos[:, cube + 3 : cube + 7]
        if cubes == 2:
            base = joint("base")
            self.base, self.base_quaternion = qpos[:, base : base + 3], qpos[:, base + 3 : base + 7]
        self.handle, self.drawer_opening = site("handle"), qpos[:, joint("drawer")]
        self.drawer_locked: Floats = batch.bind("eq_active")[:, model.equality("lock").id]
        self.button, self.button_depth = site("button"), qpos[:, joint("button")]
        self.lever, self.lever_angle = site("lever"), qpos[:, joint("lever")]
        self.pad = stand("pad")
        self.cabinet, self.button_base, self.lever_base = stand("cabinet"), stand("button_base"), stand("lever_base")

        batch.reset(keyframe=0, stage=self.velocity_stage)
        self._home = batch.state[0].copy()
        # Kept beside the rows, in which they never change: the simulator takes up where it left off, a fifth faster,
        # in a row that is as it left it.
        self._noted = stand("goal"), batch.bind("userdata")
        self._blank = tuple(note[0].copy() for note in self._noted)
        self.goal: Floats = self._noted[0].copy()
        self.latch: Floats = self._noted[1].copy()

    @property
    def cube_yaw(self) -> Floats:
        """The cube's turn about the vertical, (N,)."""
        w, x, y, z = self.cube_quaternion.T
        yaw: Floats = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        return yaw

    @property
    @once_at_rest
    def cube_to_goal(self) -> Floats:
        """From the cube's centre to the goal, (N, 3) metres."""
        return self.goal - self.cube

    @property
    @once_at_rest
    def goal_distance(self) -> Floats:
        """How far the cube's centre is from the goal, (N,)."""
        return length(self.cube_to_goal)

    @property
    def cube_turn(self) -> Floats:
        """Where the cube's sides point, (N, 2): cosine and sine of four times the yaw, since a quarter turn is none.

        Both fade as the cube tips over, so that they never jump.
        """
        turn = self.cube_quaternion.take((0, 3), axis=1).view(np.complex128)  # by half the yaw
        for _ in range(3):
            turn *= turn
        return turn.view(np.float64)

    @property
    @once
    def gap(self) -> Floats:
        """From the tool centre point to the cube, (N, 3)."""
        return self.cube - self.tcp

    @property
    @once
    def gap_length(self) -> Floats:
        """How far the tool centre point is from the cube, (N,)."""
        return length(self.gap)

    @property
    @once
    def width(self) -> Floats:
        """How far the fingers are from closed, on average, (N,)."""
        left, right = self.fingers.T
        width: Floats = (left + right) / 2
        return width

    @property
    @once
    def touched(self) -> NDArray[np.bool_]:
        """Whether the left and the right finger touch the cube, (N, 2)."""
        return self._touches > 0

    @property
    @once
    def grasped(self) -> NDArray[np.bool_]:
        """Whether both fingers touch the cube's sides, (N,)."""
        left, right = self.touched.T
        grasped: NDArray[np.bool_] = left & right & (np.abs(self.gap[:, 2]) < TOUCH_DEPTH)
        return grasped

    @property
    @once
    def gripper_speed(self) -> Floats:
        """How fast the fingers part or close, (N,) metres a second."""
        left, right = self._finger_velocity.T
        speed: Floats = np.abs(left + right)
        return speed

    @property
    @once
    def cube_speed(self) -> Floats:
        """How fast the cube moves, (N,) metres a second."""
        x, y, z = self._cube_velocity.T
        speed: Floats = np.sqrt(x * x + y * y + z * z)
        return speed

    @property
    @once
    def release(self) -> Floats:
        """How far the fingers have opened, (N,): 0 while they can hold the cube, however it is turned; 1 at LET_GO."""
        return share((np.minimum(*self.fingers.T) - HALF_DIAGONAL) / (LET_GO - HALF_DIAGONAL))

    @property
    @once
    def retreat(self) -> Floats:
        """How far the tool centre point has gone from the cube, (N,): 0 around it, 1 once it is away."""
        return share((self.gap_length - AROUND) / (AWAY - AROUND))

    @property
    @once
    def left_alone(self) -> NDArray[np.bool_]:
        """Whether the gripper is open, and away from the cube, (N,)."""
        gone: NDArray[np.bool_] = (self.release == 1) & (self.retreat == 1)
        return gone

    @property
    @once
    def cube_in_drawer(self) -> NDArray[np.bool_]:
        """Whether the cube is between the drawer's walls, below their rim, (N,)."""
        return within(self.cube - self.handle, DRAWER_INSIDE)

    @staticmethod
    def distance(a: Floats, b: Floats) -> Floats:
        """Euclidean distance between points, (N,)."""
        return length(a - b)

    def control(self, actions: Floats) -> None:
        """Take in the actions of one control step.

        The setpoint moves by at most SETPOINT_RATE, is never further than SETPOINT_LEASH from the tool centre point
        along an axis, and never leaves the workspace.

        Args:
            actions: (N, 4) in [-1, 1]: three shares of SETPOINT_RATE; the gripper closes where the fourth is over GRIP,
                opens where it is under -GRIP, and keeps to what it was told before in between, so that a held thing
                is not let go of by chance. Once it opens, it does so until the fingers are LET_GO apart from closed.
        """
        tcp = self.tcp.copy()
        goto = SETPOINT_RATE * actions[:, :3]
        goto += self.setpoint
        np.maximum(goto, tcp - SETPOINT_LEASH, out=goto)
        np.minimum(goto, tcp + SETPOINT_LEASH, out=goto)
        np.maximum(goto, self._least, out=goto)
        np.minimum(goto, self._most, out=self.setpoint)
        gripper, told = actions[:, 3], self._ctrl[:, 6]
        left, right = self.fingers.T
        opening = (told > 0) & ((left < LET_GO) | (right < LET_GO))
        told = np.where((gripper > GRIP) & ~opening, 0.0, told)
        self._ctrl[:, 6:] = np.where(gripper < -GRIP, FINGER_OPEN, told)[:, None]

    def pose_arm(self, ids: Ids, points: Floats, fingers: Floats, closing: bool) -> None:
        """Put the arms of the simulations `ids` at rest elsewhere, as if they had been sent there.

        Args:
            ids: (M,) simulations.
            points: (M, 3) for the tool centre points.
            fingers: (M,) how far each finger is from closed.
            closing: whether they are sent to close, not to open.
        """
        self._arm[ids] = joint_angles(points)
        self.setpoint[ids] = points
        self.fingers[ids] = fingers[:, None]
        self._ctrl[ids, 6:] = 0 if closing else FINGER_OPEN

    def hold_cube(self, ids: Ids, cubes: Floats, yaw: Floats, offsets: Floats) -> None:
        """Let the grippers of the simulations `ids` hold the cube, and settle.

        Args:
            ids: (M,) simulations.
            cubes: (M, 3) for the cubes' centres.
            yaw: (M,) their turn about the vertical, at most an eighth of a circle.
            offsets: (M, 3) from the cubes' centres to the tool centre points.
        """
        self.cube[ids] = cubes
        self.cube_quaternion[ids] = 0
        self.cube_quaternion[ids, 0], self.cube_quaternion[ids, 3] = np.cos(yaw / 2), np.sin(yaw / 2)
        width = CUBE_HALF * (np.cos(yaw) + np.abs(np.sin(yaw)))
        self.pose_arm(ids, cubes + offsets, width - SQUEEZE, closing=True)
        self.batch.step(ids, nstep=SETTLING * SUBSTEPS, stage=self.velocity_stage)

    if not TYPE_CHECKING:  # A checker would take it for leave to ask for anything.

        def __getattr__(self, word: str) -> Any:
            """Tell the nearest words to one that is not there; of one that is, what went wrong in it."""
            if hasattr(type(self), word):
                return object.__getattribute__(self, word)
            known = [name for name in dir(self) if not name.startswith("_")]
            raise AttributeError(f"the scene has no word {word!r}; {nearest(word, known)}")

    def site(self, name: str) -> Floats:
        """Where a site of the model is, (N, 3), live.

        Raises:
            RequestError: there is none of that name; so do `joint` and `stand`.
        """
        return self._sites[:, self._find("site", name).id]

    def joint(self, name: str) -> Floats:
        """A joint's position, live (w): (N,) of a hinge or slide, (N, 4) of a ball joint, (N, 7) of a free one."""
        joint = self._find("joint", name)
        first, size = int(joint.qposadr[0]), len(joint.qpos0)
        return self._qpos[:, first] if size == 1 else self._qpos[:, first : first + size]

    def stand(self, name: str) -> Floats:
        """Where a mocap body of the model stands, (N, 3), live (w)."""
        place = int(self._find("body", name).mocapid[0])
        if place < 0:
            raise RequestError(f"the body {name!r} of the scene is no mocap body")
        if name == "goal":
            return self.goal
        return self._mocap[:, place]

    def _find(self, kind: str, name: str) -> Any:
        try:
            return getattr(self.model, kind)(name)
        except KeyError:
            count = getattr(self.model, {"body": "nbody", "site": "nsite", "joint": "njnt"}[kind])
            names = filter(None, (getattr(self.model, kind)(i).name for i in range(count)))
            raise RequestError(f"the scene has no {kind} {name!r}; {nearest(name, names)}") from None

    def step(self, ids: Ids | None = None) -> None:
        """Simulate one control step of all simulations, or of `ids`."""
        self.batch.step(ids, nstep=SUBSTEPS, stage=self.velocity_stage)
        self.known = None if self.known is None else {}
        self.resting = None

    def home(self, ids: Ids) -> None:
        """Put the simulations `ids` at home: nothing locked, latched or moved."""
        self.known = self.resting = None
        _heard.clear()
        if self.batch.warning.any():
            self.batch.reset(ids, stage=self._no_stage)
        self.batch.state[ids] = self._home
        self.goal[ids], self.latch[ids] = self._blank

    def rows(self) -> Floats:
        """All that changes, as a row of MuJoCo's state for each simulation, in a fresh array."""
        self._note(self.goal, self.latch)
        rows: Floats = self.batch.state.copy()
        self._note(*self._blank)
        return rows

    def write(self, rows: Floats) -> None:
        """Make the simulations what they were when `rows` were taken."""
        self.home(np.arange(self.size))
        self.batch.state[:] = rows
        self.goal[:], self.latch[:] = self._noted
        self._note(*self._blank)
        self.refresh()

    def refresh(self, ids: Ids | None = None) -> None:
        """Make the derived words current after the state of all simulations, or of `ids`, was written."""
        self.batch.forward(ids, stage=self.velocity_stage)
        self.known = {}

    def catch_up(self, ids: Ids) -> None:
        """Make the derived words of `ids` current while a start is still being written, where furniture was brought.

        Tasks without any read what is written alone, and are spared the time. No word is kept.
        """
        if self._furnished:
            self.refresh(ids)
            self.known = None

    def warnings(self, i: int) -> str:
        """What MuJoCo has warned of in simulation `i`, and of which joint first, in one line; empty if of nothing."""
        names = [name for name, count in zip(self._warning_names, self.batch.warning[i, :, 1], strict=False) if count]
        return f"MuJoCo warns of {', '.join(names)}{self._first_warned_of()}" if names else ""

    def _first_warned_of(self) -> str:
        """The joint of the first warning, in words: the batch keeps the last, by when all that it touches has gone."""
        found = _PLACE.search(_heard[0]) if _heard else None
        if found is None:
            return ""
        firsts = self.model.jnt_qposadr if found[1] == "QPOS" else self.model.jnt_dofadr
        joint = int(np.flatnonzero(firsts <= int(found[2]))[-1])
        name = self.model.joint(joint).name
        body = self.model.body(self.model.jnt_bodyid[joint]).name
        return f", first of joint {name}" if name else f", first of a joint of body {body}"

    def _note(self, goal: Floats, latch: Floats) -> None:
        self._noted[0][:], self._noted[1][:] = goal, latch

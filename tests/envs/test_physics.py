"""The simulated world is steady: nothing jumps, drifts or diverges, and what must be possible is."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from etude.envs.tabletop.model import drawn_model, simulated_model
from etude.envs.tabletop.scene import CUBE_HALF, DRAWER_OPEN, HOME, SETPOINT_RATE, WORKSPACE, Scene
from etude.envs.vector import TabletopVectorEnv

MakeVector = Callable[..., TabletopVectorEnv]
Floats = NDArray[np.float64]


def send(scene: Scene, targets: Floats, steps: int, closed: bool) -> None:
    """Move every tool centre point towards its target, as fast as the actions allow."""
    grip = np.full((scene.size, 1), 1.0 if closed else -1.0)
    for _ in range(steps):
        scene.control(np.hstack([np.clip((targets - scene.setpoint) / SETPOINT_RATE, -1, 1), grip]))
        scene.step()


def cube_speed(scene: Scene) -> Floats:
    adr = int(scene.model.joint("cube").dofadr[0])
    velocity = scene.batch.qvel[:, adr : adr + 3]
    return np.sqrt((velocity**2).sum(axis=1))


def test_the_arm_has_the_frankas_published_joint_limits() -> None:
    model = simulated_model()
    published = [
        (-2.8973, 2.8973),
        (-1.7628, 1.7628),
        (-2.8973, 2.8973),
        (-3.0718, -0.0698),
        (-2.8973, 2.8973),
        (-0.0175, 3.7525),
        (-2.8973, 2.8973),
    ]
    assert np.allclose([model.joint(f"joint{i + 1}").range for i in range(7)], published)


def test_the_arm_has_the_frankas_published_kinematics() -> None:
    """The flange of random poses, against the product of the published Craig DH transforms."""
    import mujoco

    model = simulated_model()
    data = mujoco.MjData(model)
    a = [0, 0, 0, 0.0825, -0.0825, 0, 0.088, 0]
    d = [0.333, 0, 0.316, 0, 0.384, 0, 0, 0.107]
    alpha = np.pi / 2 * np.array([0, -1, 1, 1, -1, 1, 1, 0])
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = rng.uniform(model.jnt_range[:7, 0], model.jnt_range[:7, 1])
        pose = np.eye(4)
        for a_i, d_i, alpha_i, q_i in zip(a, d, alpha, [*q, 0], strict=True):
            ca, sa, cq, sq = np.cos(alpha_i), np.sin(alpha_i), np.cos(q_i), np.sin(q_i)
            pose = pose @ [
                [cq, -sq, 0, a_i],
                [sq * ca, cq * ca, -sa, -d_i * sa],
                [sq * sa, cq * sa, ca, d_i * ca],
                [0, 0, 0, 1],
            ]
        data.qpos[:7] = q
        mujoco.mj_kinematics(model, data)
        assert np.allclose(data.body("hand").xpos, pose[:3, 3], atol=1e-9)


def test_the_simulated_and_the_drawn_model_share_their_state() -> None:
    simulated, drawn = simulated_model(), drawn_model()
    for size in ("nq", "nv", "nu", "nbody", "nmocap", "neq", "nuserdata"):
        assert getattr(simulated, size) == getattr(drawn, size)
    assert simulated.ngeom < drawn.ngeom
    assert np.allclose(simulated.body_mass, drawn.body_mass)


def test_a_cube_on_another_stays_where_it_was_put(make: MakeVector) -> None:
    env = make("stack", 256)
    env.reset(seed=0)
    scene, rng = env.scene, np.random.default_rng(0)
    aside = np.hstack([rng.uniform(-0.012, 0.012, (256, 2)), np.full((256, 1), 2 * CUBE_HALF)])
    home = np.broadcast_to(HOME, (256, 3))
    send(scene, home, 20, closed=False)  # what was held drops somewhere
    scene.cube[:] = scene.base + aside
    scene.cube_quaternion[:] = [1, 0, 0, 0]
    send(scene, home, 10, closed=False)
    lying = (scene.cube - scene.base).copy()
    send(scene, home, 60, closed=False)
    assert np.abs(scene.cube - scene.base - lying).max() < 0.002


def test_nothing_drifts_at_rest(make: MakeVector) -> None:
    env = make("reach", 64)
    env.reset(seed=0)
    before = env.scene.batch.qpos.copy()
    for _ in range(250):
        env.scene.step()
    settled = env.scene.batch.qpos.copy()
    assert np.abs(settled - before).max() < 2e-4
    for _ in range(250):
        env.scene.step()
    assert np.abs(env.scene.batch.qpos - settled).max() < 1e-9
    assert np.abs(env.scene.batch.qvel).max() < 1e-9


def test_the_finger_tips_go_where_they_are_sent_and_hardly_overshoot(make: MakeVector) -> None:
    env = make("reach", 64)
    env.reset(seed=0)
    scene, rng = env.scene, np.random.default_rng(0)
    for _ in range(4):
        targets = rng.uniform([0.3, -0.3, 0.16], [0.62, 0.34, 0.35], (64, 3))
        way = targets - scene.tcp
        steps = np.abs(way).max(axis=1) / SETPOINT_RATE
        direction = way / np.linalg.norm(way, axis=1, keepdims=True)
        beyond, late = np.zeros(64), np.zeros(64)
        for step in range(40):
            send(scene, targets, 1, closed=False)
            error = scene.tcp - targets
            beyond = np.maximum(beyond, (error * direction).sum(axis=1))
            late = np.where(np.linalg.norm(error, axis=1) > 0.01, step + 1 - steps, late)
        assert np.quantile(beyond, 0.95) < 0.012 and np.quantile(late, 0.95) < 8
        assert np.linalg.norm(scene.tcp - targets, axis=1).max() < 0.002


def test_the_corners_of_the_workspace_are_reached(make: MakeVector) -> None:
    env = make("reach", 8)
    env.reset(seed=0)
    corners = np.array(np.meshgrid(*WORKSPACE.T)).reshape(3, -1).T
    corners = np.where((corners[:, 1:2] < 0) & (corners[:, 2:] < 0.1), corners + [0, 0, 0.2], corners)
    send(env.scene, corners, 60, closed=True)
    assert np.linalg.norm(env.scene.tcp - corners, axis=1).max() < 0.01


def test_a_cube_is_grasped_lifted_and_held_from_every_start(make: MakeVector) -> None:
    env = make("reach", 256)
    env.reset(seed=0)
    scene = env.scene
    over = scene.cube * [1, 1, 0]
    send(scene, over + [0, 0, 0.1], 16, closed=False)
    send(scene, over + [0, 0, 0.018], 8, closed=False)
    send(scene, over + [0, 0, 0.018], 8, closed=True)
    assert scene.grasped.all()
    send(scene, over + [0, 0, 0.2], 12, closed=True)
    held = scene.cube - scene.tcp
    assert scene.grasped.all() and np.all(scene.cube[:, 2] > 0.17)
    for shake in ([0, 0.24, 0], [0.0, -0.24, 0], [-0.15, 0, 0], [0.15, 0, 0]):
        send(scene, scene.tcp + shake, 9, closed=True)
    assert scene.grasped.all() and np.abs(scene.cube - scene.tcp - held).max() < 0.02
    send(scene, scene.tcp.copy(), 10, closed=True)
    assert cube_speed(scene).max() < 0.1


def test_the_lock_holds_the_drawer_until_the_button_was_pressed(make: MakeVector) -> None:
    env = make("unlock-drawer", 16)
    env.reset(seed=0)
    scene = env.scene

    def pull() -> None:
        send(scene, scene.handle + [0, 0.03, 0.08], 30, closed=False)
        send(scene, scene.handle + [0, 0.02, 0], 8, closed=False)
        for _ in range(20):
            send(scene, scene.handle + [0, 0.12, 0], 1, closed=False)

    pull()
    assert scene.drawer_opening.max() < 0.001
    send(scene, scene.tcp + [0, 0.02, 0.1], 8, closed=True)
    send(scene, scene.button + [0, 0, 0.04], 35, closed=True)
    for _ in range(8):
        down = np.clip((scene.button - [0, 0, 0.03] - scene.setpoint) / SETPOINT_RATE, -1, 1)
        env.step(np.hstack([down, np.ones((16, 1))]))
    assert scene.latch[:, 0].all() and not scene.drawer_locked.any()
    pull()
    assert np.all(scene.drawer_opening > DRAWER_OPEN)


def test_a_released_button_comes_back_and_an_open_drawer_stays(make: MakeVector) -> None:
    env = make("reach", 2)
    env.reset(seed=0)
    scene = env.scene
    scene.drawer_opening[:] = 0.14
    scene.button_depth[:] = 0.02
    scene.refresh()
    for _ in range(100):
        scene.step()
    assert np.abs(scene.button_depth).max() < 1e-4
    assert np.allclose(scene.drawer_opening, 0.14, atol=1e-6)


def test_no_episode_changes_the_model(make: MakeVector, actions: NDArray[np.float32]) -> None:
    env = make("unlock-drawer", 8)
    model = env.scene.model
    fields = [name for name in dir(model) if isinstance(getattr(model, name), np.ndarray)]
    before = {name: getattr(model, name).tobytes() for name in fields}
    for seed in range(2):
        env.reset(seed=seed)
        for action in actions[:80, :8]:
            env.step(action)
    assert len(fields) > 100 and all(getattr(model, name).tobytes() == then for name, then in before.items())


def policies() -> dict[str, Callable[[int, TabletopVectorEnv, np.random.Generator], Floats]]:
    """Actions, (N, 4), of step k: idle, random, at the corners of the action space, and out to wreck the furniture."""
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 4)).reshape(4, -1).T
    held: dict[str, NDArray[np.float64]] = {}

    def hold(name: str, k: int, every: int, make: Callable[[], Floats]) -> Floats:
        if k % every == 0:
            held[name] = make()
        return held[name]

    def hunt(k: int, env: TabletopVectorEnv, rng: np.random.Generator) -> Floats:
        """At full speed onto one thing after another, snapping."""
        scene, n = env.scene, env.num_envs
        things = np.stack([scene.cube, scene.cube, scene.handle, scene.button, scene.lever])
        chosen = hold("thing", k, 20, lambda: rng.integers(0, 5, (n, 1)).astype(float))[:, 0].astype(int)
        target = things[chosen, np.arange(n)] + rng.normal(0, 0.03, (n, 3)) - [0, 0, 0.02]
        snap = hold("snap", k, 6, lambda: rng.choice([-1.0, 1.0], (n, 1)))
        return np.hstack([np.clip((target - scene.tcp) / SETPOINT_RATE, -1, 1), snap])

    return {
        "random": lambda k, env, rng: rng.uniform(-1, 1, (env.num_envs, 4)),
        "wandering": lambda k, env, rng: hold("wander", k, 10, lambda: rng.uniform(-1, 1, (env.num_envs, 4))),
        "constant": lambda k, env, rng: np.resize(corners, (env.num_envs, 4)),
        "bang-bang": lambda k, env, rng: hold("bang", k, 3, lambda: rng.choice([-1.0, 1.0], (env.num_envs, 4))),
        "alternating": lambda k, env, rng: np.resize(corners, (env.num_envs, 4)) * (-1) ** k,
        "hunting": hunt,
    }


def run_wild(env: TabletopVectorEnv, policy: str, seed: int) -> None:
    """One episode each: RunError at any MuJoCo warning, and a limit to what a cube may do."""
    act, rng = policies()[policy], np.random.default_rng(seed)
    env.reset(seed=seed)
    loose_height = np.zeros(env.num_envs)
    for k in range(env.task.horizon):
        observations, *_ = env.step(act(k, env, rng))
        assert env.observation_space.contains(observations)
        assert cube_speed(env.scene).max() < 4
        away = env.scene.distance(env.scene.cube, env.scene.tcp) > 0.08
        loose_height = np.maximum(loose_height, np.where(away, env.scene.cube[:, 2], 0))
    assert loose_height.max() < 0.5


@pytest.mark.parametrize("policy", policies())
def test_an_episode_stays_finite_whatever_the_actions(policy: str, make: MakeVector) -> None:
    run_wild(make("unlock-drawer", 32), policy, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("policy", policies())
def test_a_thousand_episodes_stay_finite_whatever_the_actions(policy: str, make: MakeVector) -> None:
    env = make("unlock-drawer", 250, threads=2)
    for seed in range(4):
        run_wild(env, policy, seed=1000 * (seed + 1))

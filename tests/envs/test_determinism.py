import hashlib
import random
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from etude.envs import task_ids
from etude.envs.single import TabletopEnv
from etude.envs.vector import TabletopVectorEnv

MakeVector = Callable[..., TabletopVectorEnv]

Actions = NDArray[np.float32]
STEPS = 100


def play(env: TabletopVectorEnv, actions: Actions) -> list[NDArray[Any]]:
    return [np.concatenate([env.step(a)[0].ravel(), env.scene.batch.state.ravel()]) for a in actions]


@pytest.mark.parametrize("task_id", task_ids())
def test_a_simulation_has_the_same_bits_alone_and_in_a_batch(task_id: str, actions: Actions, make: MakeVector) -> None:
    batch, single = make(task_id, 37), TabletopEnv(task_id)
    row = 23
    together, _ = batch.reset(seed=100)
    alone, _ = single.reset(seed=100 + row)
    assert np.array_equal(together[row], alone)
    for step in range(min(STEPS, batch.task.horizon)):
        together, rewards, _, _, info = batch.step(actions[step, :37])
        alone, reward, _, _, only = single.step(actions[step, row])
        assert np.array_equal(together[row], alone)
        assert (rewards[row], info["success"][row]) == (reward, only["success"])
    for word, values in single.privileged_state().items():
        assert np.array_equal(values[0], batch.privileged_state()[word][row])


def test_the_number_of_threads_changes_no_bit(actions: Actions, make: MakeVector) -> None:
    one, two = make("unlock-drawer", 9, threads=1), make("unlock-drawer", 9, threads=2)
    one.reset(seed=1), two.reset(seed=1)
    for a, b in zip(play(one, actions[:60, :9]), play(two, actions[:60, :9]), strict=True):
        assert np.array_equal(a, b)


def test_a_start_does_not_depend_on_what_came_before(actions: Actions, make: MakeVector) -> None:
    used, fresh = make("unlock-drawer", 5), make("unlock-drawer", 5)
    used.reset(seed=50)
    play(used, actions[:60, :5])
    assert np.array_equal(used.reset(seed=7)[0], fresh.reset(seed=7)[0])
    for a, b in zip(play(used, actions[:60, :5]), play(fresh, actions[:60, :5]), strict=True):
        assert np.array_equal(a, b)


def test_a_fresh_process_has_the_same_bits() -> None:
    code = (
        "import hashlib, numpy as np\n"
        "from etude.envs.vector import TabletopVectorEnv\n"
        "env = TabletopVectorEnv('unlock-drawer', 3); env.reset(seed=4); rng = np.random.default_rng(2)\n"
        "digest = hashlib.sha256()\n"
        "for _ in range(50): digest.update(env.step(rng.uniform(-1, 1, (3, 4)))[0].tobytes())\n"
        "print(digest.hexdigest())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    env, rng, digest = TabletopVectorEnv("unlock-drawer", 3), np.random.default_rng(2), hashlib.sha256()
    env.reset(seed=4)
    for _ in range(50):
        digest.update(env.step(rng.uniform(-1, 1, (3, 4)))[0].tobytes())
    assert done.stdout.strip() == digest.hexdigest()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("at", [0, 30, 80, 81])
def test_a_restored_snapshot_goes_on_with_the_same_bits(
    mode: AutoresetMode, at: int, actions: Actions, make: MakeVector
) -> None:
    """Before the first step, in mid-episode, with autoresets pending, and just after them."""
    first, second = (make("unlock-drawer", 6, autoreset_mode=mode) for _ in range(2))
    first.reset(seed=11)
    play(first, actions[:at, :6])
    file = BytesIO()
    np.savez(file, allow_pickle=False, **first.snapshot())
    file.seek(0)
    second.reset(seed=99)
    play(second, actions[50:70, :6])
    with np.load(file, allow_pickle=False) as stored:
        second.restore(dict(stored))
    for word, values in first.privileged_state().items():
        assert np.array_equal(values, second.privileged_state()[word]), word
    for a, b in zip(play(first, actions[at : at + 100, :6]), play(second, actions[at : at + 100, :6]), strict=True):
        assert np.array_equal(a, b)
    assert first.np_random_seed == second.np_random_seed


def test_a_single_environment_is_restored_with_its_generator(actions: Actions) -> None:
    first, second = TabletopEnv("reach"), TabletopEnv("reach")
    first.reset(seed=3)
    first.step(actions[0, 0])
    second.restore(first.snapshot())
    assert np.array_equal(first.step(actions[1, 0])[0], second.step(actions[1, 0])[0])
    assert np.array_equal(first.reset()[0], second.reset()[0])


def test_what_is_returned_is_never_touched_again(actions: Actions, make: MakeVector) -> None:
    env = make("unlock-drawer", 3, autoreset_mode=AutoresetMode.SAME_STEP)
    kept: list[tuple[Any, bytes]] = []

    def keep(*values: Any) -> None:
        for value in values:
            if isinstance(value, dict):
                keep(*value.values())
            elif isinstance(value, np.ndarray) and value.dtype == object:
                keep(*value)
            elif isinstance(value, np.ndarray):
                kept.append((value, value.tobytes()))

    keep(*env.reset(seed=0))
    for action in actions[:170, :3]:
        keep(*env.step(action), env.privileged_state(), env.snapshot())
    assert all(value.tobytes() == then for value, then in kept)


def test_the_global_generators_are_left_alone(actions: Actions, make: MakeVector) -> None:
    before = random.getstate(), np.random.get_state()[1].tobytes()  # type: ignore[index, union-attr]
    env = make("reach", 3)
    env.reset(seed=0)
    play(env, actions[:5, :3])
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == before  # type: ignore[index, union-attr]

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from etude.envs import get_task
from etude.oracles import Oracle, SequenceOracle, get_oracle
from etude.oracles.policies import oracle_policy

Privileged = dict[str, NDArray[Any]]


class Part(Oracle):
    """Acts its own number; what it is told of itself stands in the privileged state."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.entered = np.zeros(size, int)

    def reset(self, ids: NDArray[np.intp]) -> None:
        self.entered[ids] += 1

    def act(self, privileged: Privileged) -> NDArray[np.float32]:
        return np.full((self.size, 1), float(self.task[-1]), np.float32)

    def ready(self, privileged: Privileged) -> NDArray[np.bool_]:
        return privileged[f"ready {self.task}"]

    def done(self, privileged: Privileged) -> NDArray[np.bool_]:
        return privileged[f"done {self.task}"]


class Part1(Part):
    task = "part-1"


class Part2(Part):
    task = "part-2"


class Part3(Part):
    task = "part-3"


class Whole(SequenceOracle):
    task = "whole"

    @classmethod
    def _parts(cls) -> list[type[Oracle]]:
        return [Part1, Part2, Part3]


def state(*words: str) -> Privileged:
    """Two rows; the words hold in the first alone, but all parts are ready unless `unready` says otherwise."""
    told = {f"{what} part-{k}": np.array([what == "ready"] * 2) for k in (1, 2, 3) for what in ("ready", "done")}
    for word in words:
        what, part = word.split(" ")
        told[f"{what.removeprefix('un')} {part}"][0] = not what.startswith("un")
    return told


@pytest.fixture
def whole() -> Whole:
    oracle = Whole(2)
    oracle.reset(np.arange(2))
    return oracle


def acting(oracle: Whole, privileged: Privileged) -> list[float]:
    return [float(a) for a in oracle.act(privileged)[:, 0]]


def test_a_sequence_begins_with_its_first_part(whole: Whole) -> None:
    assert acting(whole, state()) == [1, 1]


def test_a_row_goes_on_where_its_part_is_done(whole: Whole) -> None:
    assert acting(whole, state("done part-1")) == [2, 1]
    assert acting(whole, state()) == [2, 1]


def test_several_parts_may_be_done_at_once(whole: Whole) -> None:
    assert acting(whole, state("done part-1", "done part-2")) == [3, 1]


def test_a_row_waits_until_the_next_part_is_ready(whole: Whole) -> None:
    assert acting(whole, state("done part-1", "unready part-2")) == [1, 1]


def test_a_row_goes_back_where_its_part_is_no_longer_ready(whole: Whole) -> None:
    acting(whole, state("done part-1", "done part-2"))
    assert acting(whole, state("unready part-3")) == [2, 1]
    assert acting(whole, state("unready part-2")) == [1, 1]


def test_a_part_starts_afresh_whenever_it_is_entered(whole: Whole) -> None:
    acting(whole, state("done part-1"))
    acting(whole, state("unready part-2"))
    acting(whole, state("done part-1"))
    assert [part.entered.tolist() for part in whole.players] == [[2, 1], [3, 1], [1, 1]]


def test_the_whole_is_done_with_its_last_part(whole: Whole) -> None:
    assert not whole.done(state("done part-3")).any()
    acting(whole, state("done part-1", "done part-2"))
    assert whole.done(state("done part-3")).tolist() == [True, False]


def test_reset_begins_again_in_the_rows_given(whole: Whole) -> None:
    acting(whole, state("done part-1"))
    whole.reset(np.array([0]))
    assert acting(whole, state()) == [1, 1]


def test_unlock_drawer_is_played_by_the_oracles_of_its_parts() -> None:
    oracle = get_oracle("unlock-drawer")(2)
    assert isinstance(oracle, SequenceOracle)
    assert [player.task for player in oracle.players] == list(get_task("unlock-drawer").parts)


def test_unlock_drawer_goes_back_to_the_button_when_the_drawer_is_locked_again() -> None:
    env = get_task("unlock-drawer").make_vector(2, autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=0)
    act = oracle_policy("unlock-drawer", env)
    scene = env.unwrapped.scene  # type: ignore[attr-defined]
    for step in range(get_task("unlock-drawer").horizon):
        if step == 25:
            assert scene.drawer_locked.tolist() == [0, 0]
            scene.drawer_locked[0], scene.latch[0] = 1, 0
        *_, info = env.step(act(np.zeros(0)))
        if step == 26:
            assert scene.drawer_locked.tolist() == [1, 0]
        if scene.drawer_locked.tolist() == [0, 0] and info["success"].all():
            break
    env.close()
    assert step > 45 and info["success"].all()

"""Episodes to look at: a player's way through a task, step by step, and the file that shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from etude.curriculum.pictures import Frame, Sheet, check_suffix, write_frames
from etude.curriculum.players import Player, find_player
from etude.curriculum.saves import try_file, write_file
from etude.envs import RequestError, RunError, get_task, stream_seed
from etude.envs.tabletop.camera import NEEDS
from etude.oracles import evaluation_seeds, fingerprint, floor, measure_references, score
from etude.oracles.blame import told_of

REFERENCE_EPISODES = 20
RATE = 25.0


@dataclass(frozen=True)
class Moment:
    """Where an episode stands after a step; step 0 is its start.

    Attributes:
        episode: from 0.
        step: steps done.
        earned: the return so far.
        score: the episode's score; before its end, that of the return so far, the floor being earned at an even pace
            to the horizon; None where the task has no score.
        success: whether the task is solved now.
        last: whether the episode ends here.
    """

    episode: int
    step: int
    earned: float
    score: float | None
    success: bool
    last: bool

    @property
    def tally(self) -> str:
        """The score in words, or the return where there is none."""
        return f"return {self.earned:z.2f}" if self.score is None else f"score {self.score:z.1f}"


class Watch:
    """Episodes of one task and one player.

    Attributes:
        title: who plays what.
        measured: what the scores 0 and 100 are, or why there is no score.
        rate: steps a second.
    """

    def __init__(
        self, task: str, policy: str, episodes: int = 1, seed: int | None = None, render_mode: str | None = "rgb_array"
    ) -> None:
        """Make ready to play.

        Args:
            task: its id; with a run's policy, a task of that run's study.
            policy: `oracle`, `random`, `zero`, a run's folder, for its newest policy, or one of the run's `policies/`.
            episodes: how many.
            seed: which starts, those that `etude oracle` gives the seed; the task's evaluation episodes if None.
            render_mode: None where no pictures are wanted.

        Raises:
            RequestError: there is no such task or policy, or the environment gives no pictures.
            RunError: the stored policy cannot be read, or this machine cannot draw.
        """
        try:
            import mujoco  # noqa: F401
        except Exception as error:  # Without EGL's library, this is an AttributeError of PyOpenGL's.
            raise RunError(f"{NEEDS} ({error})") from error
        self._task, self._player = task, find_player(task, policy)
        self._seeds = (
            evaluation_seeds(task, episodes)
            if seed is None
            else [stream_seed(seed, "oracle", task, episode) for episode in range(episodes)]
        )
        self._reference, self.measured = _reference(task, self._player)
        self.title = f"{task}, {self._player.name}"
        self.envs = self._player.make(autoreset_mode=AutoresetMode.NEXT_STEP, render_mode=render_mode)
        self.rate = float(self.envs.metadata.get("render_fps") or RATE)

    def play(self) -> Iterator[Moment]:
        """Every moment of every episode; the environment stands there while it is looked at."""
        with told_of():
            for episode, seed in enumerate(self._seeds):
                observations, info = self.envs.reset(seed=[seed])  # type: ignore[arg-type]
                act = self._player.begin(self.envs, episode, seed)
                step, earned, ended = 0, 0.0, False
                yield self._moment(episode, step, earned, info, ended)
                while not ended:
                    observations, rewards, terminated, truncated, info = self.envs.step(act(observations))
                    step, earned = step + 1, earned + float(rewards[0])
                    ended = bool(terminated[0] or truncated[0])
                    yield self._moment(episode, step, earned, info, ended)

    def title_of(self, episode: int) -> str:
        """Who plays what, and of several episodes which."""
        return self.title if len(self._seeds) == 1 else f"{self.title}, episode {episode + 1} of {len(self._seeds)}"

    def picture(self) -> NDArray[np.uint8]:
        """What the environment looks like now, (H, W, 3).

        Raises:
            RequestError: the environment gives no pictures.
            RunError: it cannot draw here.
        """
        try:
            pictures: Any = self.envs.render()
        except (RequestError, RunError):
            raise
        except Exception as error:
            raise RunError(f"task {self._task!r}: cannot be drawn ({type(error).__name__}: {error})") from error
        picture = np.asarray(pictures[0] if pictures else None)
        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
            raise RequestError(f"task {self._task!r}: its environment gives no pictures in render_mode rgb_array")
        return picture

    def close(self) -> None:
        """Free the environment."""
        self.envs.close()

    def _moment(self, episode: int, step: int, earned: float, info: dict[str, Any], last: bool) -> Moment:
        value = None
        if (reference := self._reference) is not None:
            ahead = 0.0 if last else floor(reference) * (1 - min(1.0, step / get_task(self._task).horizon))
            value = float(score(earned + ahead, reference))
        return Moment(episode, step, earned, value, bool(np.ravel(info.get("success", False))[0]), last)


def check_out(out: Path) -> None:
    """Whether episodes can be written there, before they are played.

    Raises:
        RequestError: its suffix is unknown, its folder missing, it is a folder, or it cannot be written there.
    """
    check_suffix(out)
    try:
        if out.parent.is_file():
            raise RequestError(f"{out}: {out.parent} is a file, not a folder; name another place")
        if not out.parent.is_dir():
            raise RequestError(f"{out}: there is no folder {out.parent}; make it first")
        if out.is_dir():
            raise RequestError(f"{out}: is a folder; name a file")
        try_file(out)
    except OSError as error:
        raise RequestError(f"{out}: cannot be written ({error.strerror}); name another place") from error


def write_episodes(watch: Watch, out: Path, sheet: Sheet | None = None) -> list[Moment]:
    """Play, and write what is seen into a file, which is whole or not there.

    Args:
        watch: who plays what.
        out: an MP4, a GIF, or a contact sheet as PNG or JPEG, as its suffix says.
        sheet: the layout of a contact sheet.

    Returns:
        The last moment of each episode.
    """
    check_out(out)
    ends: dict[int, Moment] = {}

    def play() -> Iterator[Frame]:
        for moment in watch.play():
            ends[moment.episode] = moment
            yield Frame(
                watch.title_of(moment.episode), watch.picture, moment.step, moment.tally, moment.success, moment.last
            )

    write_file(out, lambda aside: write_frames(aside, play, watch.rate, sheet or Sheet()))
    return list(ends.values())


def _reference(task: str, player: Player) -> tuple[dict[str, Any] | None, str]:
    """What scores are measured against: the study's own where it is a run's policy, else measured now; and in words."""
    try:
        if player.run is not None and player.run[0].study.references.exists():
            run, suite = player.run
            reference = json.loads(run.study.references.read_bytes())[task]
            same = reference["fingerprint"] == fingerprint(task, suite.evaluation.episodes)
            words = "as the study has measured them" + ("" if same else ", before the task or its oracle was changed")
        else:
            reference = measure_references(task, REFERENCE_EPISODES)
            words = f"over {REFERENCE_EPISODES} episodes, measured now"
        score(0.0, reference)
    except RequestError as error:
        return None, f"no score: {error}"
    failing = (
        "best of random and zero actions and its own floor"
        if "floor" in reference
        else "better of random and zero actions"
    )
    return reference, f"score: 100 is the oracle, 0 the {failing}, {words}"

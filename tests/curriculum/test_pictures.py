from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from etude.curriculum.pictures import Frame, Sheet, captioned, check_suffix, contact_sheet, moments, write_frames
from etude.envs.errors import RequestError

STEPS = 6


def drawn(step: int) -> np.ndarray:
    return np.full((30, 41, 3), 30 * step, np.uint8)


def play(episodes: int = 1, title: str = "a task") -> Iterator[Frame]:
    for _ in range(episodes):
        for step in range(STEPS + 1):
            yield Frame(title, lambda step=step: drawn(step), step, f"score {step}.0", step >= 4, step == STEPS)  # type: ignore[misc]


def test_moments_lead_to_where_success_begins_to_last_and_to_the_end() -> None:
    assert moments([False] * 9 + [True] * 12, 5) == [0, 3, 6, 9, 20]
    assert moments([False, True, False, False, True, True], 5) == [0, 1, 3, 4, 5]


def test_moments_of_a_failure_are_of_the_whole_episode() -> None:
    assert moments([True] * 20 + [False], 5) == [0, 5, 10, 15, 20]


def test_a_short_episode_shows_each_step_once() -> None:
    assert moments([False, False, True], 8) == [0, 1, 2]
    assert moments([True, True], 8) == [0, 1]


def test_a_sheet_draws_only_what_it_shows() -> None:
    asked = []

    def counting() -> Iterator[Frame]:
        for frame in play():
            yield Frame(
                frame.title,
                lambda frame=frame: asked.append(frame.step) or frame.draw(),  # type: ignore[misc,func-returns-value]
                frame.step,
                frame.tally,
                frame.success,
                frame.last,
            )

    contact_sheet(counting, Sheet(moments=3, columns=3, width=50))
    assert asked == [0, 4, 6]


def test_a_sheet_has_a_block_for_each_episode() -> None:
    sheet = Sheet(moments=4, columns=2, width=60)
    one, three = (contact_sheet(lambda n=n: play(n), sheet) for n in (1, 3))  # type: ignore[misc]
    assert one.width == three.width == 2 * 60 + 4
    assert three.height == 3 * one.height
    assert np.array_equal(np.asarray(three)[: one.height], np.asarray(one))


def test_success_is_marked_in_a_caption() -> None:
    for width in (320, 640):
        without, marked = (captioned(frame, width) for frame in list(play())[3:5])
        green = [np.asarray(image)[-2, -2].tolist() for image in (without, marked)]
        assert green == [[255, 255, 255], [0, 117, 79]]


def test_the_score_is_drawn_in_everywhere() -> None:
    frame = next(play())
    for width in (320, 640):
        low, high = (np.asarray(captioned(replace(frame, tally=f"score {score}"), width)) for score in ("3.0", "97.5"))
        assert np.array_equal(low[: width * 3 // 5], high[: width * 3 // 5]) and not np.array_equal(low, high)
    low, high = (
        np.asarray(
            contact_sheet(lambda tally=tally: (replace(frame, tally=tally) for frame in play()), Sheet(2, 2, 99))
        )
        for tally in ("score 3.0", "score 97.5")
    )
    changed = np.flatnonzero((low != high).any(axis=(1, 2)))
    assert changed.min() < 22 and changed.max() > low.shape[0] - 22  # in the heading, and below the pictures


def test_a_title_too_long_is_written_smaller_and_stays_inside() -> None:
    short, long = (
        np.asarray(captioned(next(play(title=title)), 320))[-30:-15]
        for title in ("a task", "a-task-of-many-words " * 4)
    )
    assert long.shape == short.shape
    assert (long[:, -4:] == 255).all() and (long[:, 200:310] < 200).any()


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".png", ".jpg"])
def test_the_same_episodes_are_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for path in paths:
        write_frames(path, play, 25.0, Sheet(width=64))
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_video_has_every_step_and_holds_the_last_for_a_second(tmp_path: Path) -> None:
    write_frames(tmp_path / "a.mp4", lambda: play(2), 25.0, Sheet())
    with av.open(str(tmp_path / "a.mp4")) as video:
        frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
        rate = video.streams.video[0].average_rate
    assert rate == 25 and len(frames) == 2 * (STEPS + 25)
    height, width, _ = frames[0].shape
    assert width == 640 and height % 2 == 0
    shades = [int(frame[200, 300, 0]) for frame in frames[:STEPS]]
    assert np.allclose(shades, [30 * step for step in range(STEPS)], atol=6)


def test_a_gif_has_every_second_step_of_25_a_second(tmp_path: Path) -> None:
    write_frames(tmp_path / "a.gif", play, 25.0, Sheet())
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == 4 and image.width == 320  # type: ignore[attr-defined]
        assert image.info["duration"] == 80
        image.seek(3)
        assert image.info["duration"] == 1000
        assert np.asarray(image.convert("RGB"))[50, 50].tolist() == [180, 180, 180]


def test_another_suffix_is_refused_with_those_that_work() -> None:
    for name in ("a.avi", "a"):
        with pytest.raises(RequestError, match=r"take \.mp4, \.gif, \.png, \.jpg"):
            check_suffix(Path(name))
    check_suffix(Path("A.MP4"))

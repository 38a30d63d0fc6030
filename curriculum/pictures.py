"""Episodes as files to look at: captioned videos, and contact sheets of a few moments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from etude.envs.errors import RequestError

INK, DIM, PAPER, SUCCESS = "#1a1a1a", "#6b6b6b", "#ffffff", "#00754f"
VIDEO_WIDTH, GIF_WIDTH = 640, 320
GIF_RATE = 12.5
LAST_SECONDS = 1.0
GAP = 4


@dataclass(frozen=True)
class Frame:
    """A step of an episode, which can be drawn until the next one is asked for.

    Attributes:
        title: who plays what.
        draw: makes the picture, (H, W, 3), of any size; it costs a hundred times the step.
        step: steps done; 0 is the start.
        tally: what was reached so far, as in "score 45.0".
        success: whether the task is solved now.
        last: whether the episode ends here.
    """

    title: str
    draw: Callable[[], NDArray[np.uint8]]
    step: int
    tally: str
    success: bool
    last: bool


Play = Callable[[], Iterator[Frame]]
"""Plays all episodes, one after another, and the same ones when it is called again."""


@dataclass(frozen=True)
class Sheet:
    """How a contact sheet is laid out.

    Attributes:
        moments: pictures of an episode.
        columns: pictures in a row.
        width: of a picture, pixels.
    """

    moments: int = 8
    columns: int = 4
    width: int = 240


def check_suffix(path: Path) -> None:
    """Whether a file of that name can be written.

    Raises:
        RequestError: its suffix says no format that is known here.
    """
    if path.suffix.lower() not in _WRITERS:
        raise RequestError(f"{path}: its ending says what to make of it; take {', '.join(_WRITERS)}")


def write_frames(path: Path, play: Play, rate: float, sheet: Sheet) -> None:
    """Make a video or a contact sheet, as the path's suffix says; episodes follow one another.

    Args:
        path: the file, one that `check_suffix` takes.
        play: the episodes.
        rate: steps a second.
        sheet: the layout, if it is a contact sheet.
    """
    _WRITERS[path.suffix.lower()](path, play, rate, sheet)


def contact_sheet(play: Play, sheet: Sheet) -> Image.Image:
    """A heading and a few moments for each episode, which is played twice: what is not shown need not be drawn."""
    shown = [moments([frame.success for frame in episode], sheet.moments) for episode in _episodes(play())]
    blocks, cells, episodes = [], [], iter(shown)
    steps = next(episodes)
    for frame in play():
        if frame.step in steps:
            cells.append(_cell(frame, sheet.width))
        if frame.last:
            blocks.append(_block(cells, frame, sheet))
            cells, steps = [], next(episodes, [])
    whole = Image.new("RGB", (blocks[0].width, sum(block.height for block in blocks)), PAPER)
    top = 0
    for block in blocks:
        whole.paste(block, (0, top))
        top += block.height
    return whole


def moments(successes: list[bool], count: int) -> list[int]:
    """Which steps of an episode to show: evenly from its start to where success begins to last, and its end.

    Args:
        successes: of every step, the start's first.
        count: how many at the most, 2 or more.
    """
    settled = end = len(successes) - 1
    while settled > 0 and successes[-1] and successes[settled - 1]:
        settled -= 1
    before = np.linspace(0, settled, count if settled == end else count - 1).round().astype(int).tolist()
    return sorted({*before, end})


def captioned(frame: Frame, width: int) -> Image.Image:
    """A frame of a video: the picture over two lines of text, both sides even numbers of pixels."""
    picture = _scaled(frame.draw(), width)
    line = width // 22
    height = picture.height + 2 * line + GAP
    canvas = Image.new("RGB", (width, height + height % 2), PAPER)
    canvas.paste(picture)
    draw, middle = ImageDraw.Draw(canvas), picture.height + line * 3 // 2 + GAP // 2
    _write(draw, (GAP * 2, middle - line), frame.title, width - 4 * GAP, line * 3 // 4)
    _write(draw, (GAP * 2, middle), f"step {frame.step}", width // 4, line * 3 // 4, DIM)
    when = "final" if frame.last else "so far"
    _write(draw, (width // 4, middle), f"{frame.tally} {when}", width // 2, line * 3 // 4)
    if frame.success:
        draw.rectangle((width * 3 // 4, middle - line // 2, width, canvas.height), SUCCESS)
        _write(draw, (width * 3 // 4 + GAP * 2, middle), "success", width // 4 - 3 * GAP, line * 3 // 4, PAPER)
    return canvas


def _block(cells: list[Image.Image], last: Frame, sheet: Sheet) -> Image.Image:
    """An episode of a contact sheet: who plays what and what came of it, over the pictures."""
    columns, line = min(sheet.columns, sheet.moments), 22
    width, height = columns * (sheet.width + GAP) - GAP, cells[0].height + GAP
    block = Image.new("RGB", (width, line - GAP + -(-len(cells) // columns) * height), PAPER)
    draw = ImageDraw.Draw(block)
    outcome = f"{last.tally}, {'success' if last.success else 'no success'}"
    _write(draw, (GAP, line // 2), last.title, width // 2 - GAP, 14)
    _write(draw, (width - GAP, line // 2), outcome, width // 2 - GAP, 14, SUCCESS if last.success else INK, "rm")
    for i, cell in enumerate(cells):
        block.paste(cell, (i % columns * (sheet.width + GAP), line + i // columns * height))
    return block


def _cell(frame: Frame, width: int) -> Image.Image:
    """A picture of a contact sheet over its step and score; white on green where the task is solved."""
    picture, line = _scaled(frame.draw(), width), 18
    cell = Image.new("RGB", (width, picture.height + line), SUCCESS if frame.success else "#e8e8e8")
    cell.paste(picture)
    draw, middle, ink = ImageDraw.Draw(cell), picture.height + line // 2, PAPER if frame.success else INK
    _write(draw, (GAP, middle), f"step {frame.step}", width // 2 - GAP, 13, ink)
    _write(draw, (width - GAP, middle), frame.tally, width // 2, 13, ink, "rm")
    return cell


def _write(
    draw: ImageDraw.ImageDraw,
    place: tuple[int, int],
    text: str,
    width: int,
    size: int,
    ink: str = INK,
    anchor: str = "lm",
) -> None:
    """Write a line, smaller where it would be wider than `width` pixels."""
    while _font(size).getlength(text) > width and size > 6:
        size -= 1
    draw.text(place, text, ink, _font(size), anchor)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _scaled(picture: NDArray[np.uint8], width: int) -> Image.Image:
    image = Image.fromarray(picture)
    return image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)


def _episodes(frames: Iterable[Frame]) -> Iterator[list[Frame]]:
    episode = []
    for frame in frames:
        episode.append(frame)
        if frame.last:
            yield episode
            episode = []


def _write_mp4(path: Path, play: Play, rate: float, sheet: Sheet) -> None:
    import av

    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("libx264", Fraction(rate).limit_denominator(1000), {"crf": "20"})
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1  # The same bytes whatever the number of cores.
        for i, frame in enumerate(play()):
            image = captioned(frame, VIDEO_WIDTH)
            if i == 0:
                stream.width, stream.height = image.size
            for _ in range(round(LAST_SECONDS * rate) if frame.last else 1):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(np.asarray(image), "rgb24")))
        container.mux(stream.encode(None))


def _write_gif(path: Path, play: Play, rate: float, sheet: Sheet) -> None:
    stride = max(1, round(rate / GIF_RATE))
    images, durations = [], []
    for frame in play():
        if frame.last or frame.step % stride == 0:
            images.append(
                captioned(frame, GIF_WIDTH).quantize(method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            )
            durations.append(round(1000 * (LAST_SECONDS if frame.last else stride / rate)))
    images[0].save(path, save_all=True, append_images=images[1:], duration=durations, loop=0)


def _write_png(path: Path, play: Play, rate: float, sheet: Sheet) -> None:
    contact_sheet(play, sheet).save(path, optimize=True)


def _write_jpg(path: Path, play: Play, rate: float, sheet: Sheet) -> None:
    contact_sheet(play, sheet).save(path, quality=85, optimize=True)


_WRITERS: dict[str, Callable[[Path, Play, float, Sheet], None]] = {
    ".mp4": _write_mp4,
    ".gif": _write_gif,
    ".png": _write_png,
    ".jpg": _write_jpg,
}

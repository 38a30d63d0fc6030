"""The progress of a study's runs: a live picture on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import TracebackType
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from etude.curriculum.status import Status

Rows = Mapping[str, Status]
PLAIN_EVERY = 10.0
BAR = 10
"""Columns of a terminal that a run's bar gets."""
STYLES = {"done": "green", "failed": "red", "diverged": "red", "running": "default", "pending": "dim"}


class Display(AbstractContextManager["Display"], Protocol):
    """Shows where the runs stand."""

    def show(self, rows: Rows, seconds_left: float | None) -> None:
        """Show the runs by name, and how long all of them will take, where that is known."""


def make_display(console: Console) -> Display:
    """The display for where the output goes."""
    return (
        LiveDisplay(console)
        if console.is_terminal
        else PlainDisplay(partial(console.print, highlight=False, markup=False, soft_wrap=True))
    )


class LiveDisplay:
    """A line a run, and one for all, drawn over themselves; as many as the terminal has room for."""

    def __init__(self, console: Console) -> None:
        """Draw on `console`."""
        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=False)

    def __enter__(self) -> LiveDisplay:
        """Begin to draw."""
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the last picture standing."""
        self._live.__exit__(kind, error, trace)

    def show(self, rows: Rows, seconds_left: float | None) -> None:
        """Draw."""
        self._live.update(picture(rows, seconds_left, self._console.height, self._console.width), refresh=True)


class PlainDisplay:
    """A line where a run has come past a checkpoint or to its end, at most one every ten seconds a run."""

    def __init__(self, print_line: Callable[[str], object]) -> None:
        """Hand each line to `print_line`."""
        self._print = print_line
        self._said: dict[str, tuple[Status, float]] = {}

    def __enter__(self) -> PlainDisplay:
        """Nothing to set up."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing to clear away."""

    def show(self, rows: Rows, seconds_left: float | None) -> None:
        """Print what is new."""
        now = time.monotonic()
        for name, status in rows.items():
            before, when = self._said.get(name, (Status(), -PLAIN_EVERY))
            news = status.state != before.state and status.state != "pending"
            if news or (status.scores != before.scores and now - when >= PLAIN_EVERY):
                self._said[name] = (status, now)
                words: list[str] = [] if status.state == "running" else [status.state]
                words.append(f"{status.step:,}/{status.of:,} steps")
                if status.task and status.score is not None:
                    words.append(f"{status.task} {round(status.score)}")
                if status.state == "running" and seconds_left is not None:
                    words.append(f"{clock(seconds_left)} left")
                if status.reason:
                    words.append(status.reason)
                self._print(f"{name}: {', '.join(words)}")


def picture(rows: Rows, seconds_left: float | None, height: int, width: int = 80) -> Group:
    """What a terminal of that size shows: runs at work first where there is no room for all.

    Where the runs' names leave no room for steps and a bar, the share of the steps stands for them.
    """
    shown = dict(rows)
    if len(rows) > height - 3:
        order = {"running": 0, "failed": 1, "diverged": 1, "pending": 2, "done": 3}
        chosen = sorted(rows, key=lambda name: order[rows[name].state])[: max(1, height - 4)]
        shown = {name: rows[name] for name in rows if name in chosen}
    texts = [[cell for cell in _cells(*item, brief=False) if isinstance(cell, str)] for item in shown.items()]
    columns = [max(map(len, column)) for column in zip(*texts, ("", "task", "", "score", "12:34"), strict=True)]
    brief = sum(columns) + BAR + len(columns) > width
    table = Table.grid(padding=(0, 1), expand=False)
    table.add_column("run", no_wrap=True, overflow="ellipsis")
    table.add_column("task", no_wrap=True, overflow="ellipsis")
    table.add_column("steps", no_wrap=True, justify="right")
    if not brief:
        table.add_column("bar", width=BAR)
    table.add_column("score", no_wrap=True, justify="right", min_width=5)
    table.add_column("left", no_wrap=True, justify="right", min_width=5)
    table.add_row("", "task", *(["steps"] if brief else ["steps", ""]), "score", "left", style="dim")
    for name, status in shown.items():
        table.add_row(*_cells(name, status, brief), style=STYLES[status.state])
    return Group(table, Text(_summary(rows, len(rows) - len(shown), seconds_left)))


def _summary(rows: Rows, hidden: int, seconds_left: float | None) -> str:
    states = [status.state for status in rows.values()]
    finished = sum(state in ("done", "diverged", "failed") for state in states)
    share = sum(s.step for s in rows.values()) / max(1, sum(s.of for s in rows.values()))
    words = [f"{share:.0%} of all steps", f"{finished} of {len(rows)} runs finished"]
    words += [f"{states.count(state)} {state}" for state in ("failed", "diverged") if state in states]
    words += [f"{hidden} not shown"] if hidden else []
    words += [f"{clock(seconds_left)} left"] if finished < len(rows) and seconds_left is not None else []
    return ", ".join(words)


def _cells(name: str, status: Status, brief: bool) -> tuple[str | Text | ProgressBar, ...]:
    steps = f"{status.step:,}/{status.of:,}" if status.of else ""
    bar = ProgressBar(total=max(1, status.of), completed=status.step, width=BAR, finished_style="green")
    return (
        name,
        (status.task or "starting") if status.state == "running" else status.state,
        *([f"{status.step / max(1, status.of):.0%}"] if brief else [steps, bar]),
        "" if status.score is None else f"{status.score:z.1f}",
        "" if status.seconds_left is None else clock(status.seconds_left),
    )


def clock(seconds: float) -> str:
    """A time as people say it: `0:07`, `5:30`, `2:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


@contextmanager
def shown_on_stderr() -> Iterator[Callable[[str], None]]:
    """What shows, on stderr, what is at work: in one moving line of a terminal, else a line each."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("measuring") as status:
            yield lambda text: status.update(text)
    else:
        yield lambda text: print(text, file=sys.stderr, flush=True)

"""The progress of a study's runs: a live picture on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
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
        else PlainDisplay(partial(console.print, highlight=False, soft_wrap=True))
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
        self._live.update(picture(rows, seconds_left, self._console.height), refresh=True)


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
                if status.task in status.scores:
                    words.append(f"{status.task} {round(status.scores[status.task])}")
                if status.state == "running" and seconds_left is not None:
                    words.append(f"{clock(seconds_left)} left")
                if status.reason:
                    words.append(status.reason)
                self._print(f"{name}: {', '.join(words)}")


def picture(rows: Rows, seconds_left: float | None, height: int) -> Group:
    """What a terminal of that height shows: runs at work first where there is no room for all."""
    shown = dict(rows)
    if len(rows) > height - 3:
        order = {"running": 0, "failed": 1, "diverged": 1, "pending": 2, "done": 3}
        chosen = sorted(rows, key=lambda name: order[rows[name].state])[: max(1, height - 4)]
        shown = {name: rows[name] for name in rows if name in chosen}
    table = Table.grid(padding=(0, 1), expand=False)
    for column in ("run", "task"):
        table.add_column(column, no_wrap=True, overflow="ellipsis", max_width=17 if column == "run" else 15)
    table.add_column("steps", no_wrap=True, justify="right")
    table.add_column("bar", width=10)
    table.add_column("score", no_wrap=True, justify="right", min_width=5)
    table.add_column("left", no_wrap=True, justify="right", min_width=5)
    table.add_row("", "task", "steps", "", "score", "left", style="dim")
    for name, status in shown.items():
        table.add_row(*_cells(name, status), style=STYLES[status.state])
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


def _cells(name: str, status: Status) -> tuple[str | Text | ProgressBar, ...]:
    steps = f"{status.step:,}/{status.of:,}" if status.of else ""
    return (
        name,
        (status.task or "starting") if status.state == "running" else status.state,
        steps,
        ProgressBar(total=max(1, status.of), completed=status.step, width=10, finished_style="green"),
        "" if status.score is None else f"{status.score:z.1f}",
        "" if status.seconds_left is None else clock(status.seconds_left),
    )


def clock(seconds: float) -> str:
    """A time as people say it: `0:07`, `5:30`, `2:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

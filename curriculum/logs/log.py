"""What is read from someone else's logs, whatever their format: evaluations, and what was trained up to when."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from etude.envs.errors import RequestError

NO_SUCCESS = "The log has no column success: episodes count as not succeeded, and success rates say nothing."


@dataclass(frozen=True)
class Entry:
    """The evaluation of one task at one step.

    Attributes:
        run: the run that it is of, by whatever tells runs of the log apart.
        step: since the run's start.
        task: its name.
        returns: (E,) of the episodes.
        successes: (E,) whether they succeeded; false where the log does not say.
        lengths: (E,) their steps; 0 where the log does not say.
        where: file and line, for a fault found later.
    """

    run: str
    step: int
    task: str
    returns: tuple[float, ...]
    successes: tuple[bool, ...]
    lengths: tuple[int, ...]
    where: str


@dataclass(frozen=True)
class LoggedRun:
    """One run of a log.

    Attributes:
        name: what tells it apart in the log.
        seed: its seed.
        trained: the tasks in the order of their training, each with the step at which its own training ends.
        group: the group of runs that it belongs to; where empty, `trained` tells: several tasks are a sequential run.
    """

    name: str
    seed: int
    trained: tuple[tuple[str, int], ...]
    group: str = ""


@dataclass
class Log:
    """A whole log.

    Attributes:
        runs: its runs.
        entries: their evaluations.
        agent: what was trained, if the log says it.
        method: the continual-learning method, if the log says it.
        notes: what a reader of the numbers must know.
    """

    runs: list[LoggedRun] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    agent: str = "unknown"
    method: str = "unknown"
    notes: list[str] = field(default_factory=list)


class Fields:
    """One line of a file by its column names; a cell that is not what it must be is told with file and line."""

    def __init__(self, cells: Mapping[str, Any], where: str) -> None:
        """The cells of a line that stands at `where`."""
        self.cells = cells
        self.where = where

    def text(self, column: str) -> str:
        """A cell that must not be empty."""
        cell = self.cells.get(column)
        if cell is None or str(cell).strip() == "":
            raise self.fault(column, "is empty")
        return str(cell).strip()

    def number(self, column: str) -> float:
        """A finite number."""
        text = self.text(column)
        try:
            value = float(text)
        except ValueError:
            raise self.fault(column, f"{text!r} is no number") from None
        if not abs(value) < float("inf"):
            raise self.fault(column, f"{text!r} is not finite")
        return value

    def whole(self, column: str) -> int:
        """A whole number of at least 0."""
        value = self.number(column)
        if not value.is_integer() or value < 0:
            raise self.fault(column, f"{self.text(column)!r} is no whole number of at least 0")
        return int(value)

    def truth(self, column: str) -> bool:
        """True or false, 1 or 0."""
        known = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
        text = self.text(column).lower()
        if text not in known:
            raise self.fault(column, f"{self.text(column)!r} is neither true nor false")
        return known[text]

    def fault(self, column: str, what: str) -> RequestError:
        """The error of a cell."""
        return RequestError(f"{self.where}: {column} {what}")


def read_lines(path: Path, delimiter: str, needed: Sequence[str] = ()) -> Iterator[Fields]:
    """The lines of a file with a heading line.

    Raises:
        RequestError: it cannot be read, lacks a needed column, or a line has another number of cells than the heading.
    """
    import csv

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            heading = next(reader, None)
            if heading is None:
                raise RequestError(f"{path}: is empty")
            check_columns(path, heading, needed)
            for cells in reader:
                where = f"{path}, line {reader.line_num}"
                if not cells:
                    continue
                if len(cells) != len(heading):
                    raise RequestError(f"{where}: {len(cells)} cells, but the heading has {len(heading)}")
                yield Fields(dict(zip(heading, cells, strict=True)), where)
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise RequestError(f"{path}: not a text table ({error})") from error


def check_columns(path: Path, heading: Sequence[str], needed: Sequence[str]) -> None:
    """Whether a file has the columns that are needed.

    Raises:
        RequestError: one is missing, or two have one name.
    """
    for column in needed:
        if column not in heading:
            raise RequestError(f"{path}, line 1: there is no column {column}; it has {', '.join(heading[:12])}")
    for column in filter(None, heading):
        if heading.count(column) > 1:
            raise RequestError(f"{path}, line 1: there are two columns {column}; rename or remove one")

"""The records of a run, one line a (checkpoint, task); every number of a study derives from them."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from etude.curriculum.saves import naming, sync, write_text
from etude.envs.errors import RequestError


@dataclass(frozen=True)
class Evaluation:
    """The evaluation episodes of one task at one checkpoint.

    Attributes:
        step: environment steps since the run's start.
        task: task id.
        returns: undiscounted return of each episode.
        successes: whether each episode's last step was a success.
        lengths: steps of each episode.
    """

    step: int
    task: str
    returns: tuple[float, ...]
    successes: tuple[bool, ...]
    lengths: tuple[int, ...]


def append_evaluations(path: Path, evaluations: Iterable[Evaluation]) -> None:
    """Append one checkpoint's evaluations, and fsync."""
    with naming(path), path.open("ab") as file:
        file.write(b"".join(json.dumps(asdict(e), allow_nan=False).encode() + b"\n" for e in evaluations))
        file.flush()
        os.fsync(file.fileno())


def read_evaluations(path: Path) -> list[Evaluation]:
    """All whole lines of a record, in order; a torn last line, as a crash leaves it, is dropped.

    Raises:
        RequestError: a line that is not the last, or that ends in a newline, is not an evaluation.
    """
    if not path.exists():
        return []
    *lines, _torn = path.read_bytes().split(b"\n")
    return [_parse(line, path, number) for number, line in enumerate(lines, 1)]


def keep_evaluations(path: Path, up_to: int) -> None:
    """Cut the record to the lines at steps <= `up_to`, aside and renamed: a resumed run makes the rest again."""
    kept = [e for e in read_evaluations(path) if e.step <= up_to]
    aside = path.with_suffix(".aside")  # of the one process that holds the run
    aside.unlink(missing_ok=True)
    append_evaluations(aside, kept)
    os.replace(aside, path)
    sync(path.parent)


def read_training(path: Path) -> list[tuple[int, str]]:
    """The lines of a run's training statistics, each with its step; what cannot be read is left out."""
    found = []
    for line in path.read_text(errors="replace").split("\n") if path.exists() else ():
        with suppress(ValueError, TypeError, KeyError):
            found.append((int(json.loads(line)["step"]), line))
    return found


def keep_training(path: Path, up_to: int) -> None:
    """Cut the training statistics to the lines at steps <= `up_to`, as `keep_evaluations` does the record."""
    if path.exists():
        write_text(path, "".join(f"{line}\n" for step, line in read_training(path) if step <= up_to))


def _parse(line: bytes, path: Path, number: int) -> Evaluation:
    try:
        fields = orjson.loads(line)
        step, task = fields["step"], fields["task"]
        returns, successes, lengths = fields["returns"], fields["successes"], fields["lengths"]
        if type(step) is not int or type(task) is not str:
            raise ValueError("step must be a whole number, task a name")
        if not len(returns) == len(successes) == len(lengths) > 0:
            raise ValueError("returns, successes and lengths must be lists of one and the same length")
        # Sets of types: as strict as a look at each number, and five times as fast.
        if not set(map(type, returns)) <= {int, float}:
            raise ValueError("returns must be finite numbers")
        if set(map(type, successes)) != {bool} or set(map(type, lengths)) != {int}:
            raise ValueError("successes must be true or false, lengths whole numbers")
    except (ValueError, KeyError, TypeError) as error:
        raise RequestError(f"{path}, line {number}: not an evaluation ({error})") from None
    return Evaluation(step, task, tuple(map(float, returns)), tuple(successes), tuple(lengths))

"""What a check is: a question about a task, which it passes, fails, or which does not apply to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from etude.envs.checks.subject import Subject
from etude.envs.errors import RequestError, RunError

Outcome = Literal["passed", "failed", "not applicable"]
Answer = str | tuple[str, dict[str, float]]


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        check: its name.
        outcome: whether the task passed.
        reason: one line: what was seen, or why the check does not apply.
        measured: numbers of it, by name; fractions, not percent.
    """

    check: str
    outcome: Outcome
    reason: str
    measured: Mapping[str, float] = field(default_factory=dict)


class Failed(Exception):
    """The task fails the check; the message says by what."""

    def __init__(self, reason: str, measured: Mapping[str, float] | None = None) -> None:
        """Fail for `reason`, with the numbers of it."""
        super().__init__(reason)
        self.measured = dict(measured or {})


class NotApplicable(Exception):
    """The check does not apply to the task; the message says why."""


@dataclass(frozen=True)
class Check:
    """A question about a task.

    Attributes:
        name: a few words that name it.
        look: returns what it saw, and raises Failed or NotApplicable; whatever else it raises is a failure of the task.
    """

    name: str
    look: Callable[[Subject], Answer]

    def __call__(self, subject: Subject) -> Finding:
        """Ask it of a task."""
        try:
            answer = self.look(subject)
        except NotApplicable as reason:
            return Finding(self.name, "not applicable", _line(reason))
        except Failed as reason:
            return Finding(self.name, "failed", _line(reason), reason.measured)
        except (RequestError, RunError) as error:
            return Finding(self.name, "failed", _line(error))
        except (Exception, SystemExit) as error:
            return Finding(self.name, "failed", f"{type(error).__name__}: {_line(error)}")
        seen, measured = answer if isinstance(answer, tuple) else (answer, {})
        return Finding(self.name, "passed", seen, measured)


def check(name: str) -> Callable[[Callable[[Subject], Answer]], Check]:
    """Make a check of that name of a function."""
    return lambda look: Check(name, look)


def run_checks(subject: Subject, checks: Iterable[Check]) -> Iterator[Finding]:
    """One finding after another; where the first check fails, the others do not apply.

    Args:
        subject: the task.
        checks: the first of them asks whether an episode can be played at all.
    """
    playable = True
    for i, one in enumerate(checks):
        finding = one(subject) if playable else Finding(one.name, "not applicable", "no episode can be played")
        playable = playable and (i > 0 or finding.outcome != "failed")
        yield finding


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or "no reason given"

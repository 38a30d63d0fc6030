"""What `etude check` does: find the task and the suite it should fit, check it, and show what was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from etude.curriculum.imports import import_all
from etude.curriculum.library import absolute_imports
from etude.envs.errors import RequestError

if TYPE_CHECKING:
    from rich.console import Console

    from etude.envs.checks import Finding, Spaces

STYLES = {"passed": "green", "failed": "bold red", "not applicable": "dim"}
WIDTHS = {"outcome": max(map(len, STYLES)), "check": 27}


def import_named(entries: Sequence[str], task: str) -> list[str]:
    """Import what `--import` names, files being looked for from the current folder.

    Args:
        entries: files and modules.
        task: what is to be found thereafter.

    Returns:
        The entries, files by their absolute paths.

    Raises:
        RequestError: one cannot be imported, where and why it failed; or `task` is unknown, and none registers any.
    """
    from etude.envs import get_task, task_ids

    found: list[str] = absolute_imports(entries, Path.cwd())
    before = task_ids() if found else ()
    import_all(found, "--import")
    if found and task_ids() == before:
        try:
            get_task(task)
        except RequestError as error:
            raise RequestError(f"{error}; --import {', '.join(entries)} registers no task") from None
    return found


def check_task(task: str, suite: str | None, imports: Sequence[str], episodes: int) -> Iterator[Finding]:
    """Check a task; its findings come one by one, as they are found.

    Args:
        task: its id.
        suite: a suite whose spaces it should have.
        imports: files and modules that register it.
        episodes: of the oracle and of each failing policy.

    Raises:
        RequestError: there is no such task or suite, or something cannot be imported.
    """
    entries, spaces = import_named(imports, task), None
    if suite is not None:
        own, spaces = _suite(suite, task)
        entries += own
    from etude.envs.checks import CHECKS, Subject, run_checks
    from etude.oracles.checks import ORACLE_CHECKS

    prelude = f"from etude.curriculum.imports import import_all\nimport_all({entries!r})" if entries else ""
    subject = Subject(task, spaces=spaces, prelude=prelude, episodes=episodes)
    return run_checks(subject, CHECKS + ORACLE_CHECKS)


def print_findings(task: str, findings: Iterable[Finding], console: Console) -> bool:
    """Show findings as they come.

    Returns:
        Whether none has failed.
    """
    from rich.table import Table
    from rich.text import Text

    console.print(f"[bold]{task}[/bold]", highlight=False)
    counts = dict.fromkeys(STYLES, 0)
    for finding in findings:
        counts[finding.outcome] += 1
        row = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
        for width in WIDTHS.values():
            row.add_column(width=width)
        row.add_column(ratio=1)
        row.add_row(Text(finding.outcome, STYLES[finding.outcome]), Text(finding.check), Text(finding.reason))
        console.print(row)
    console.print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()), highlight=False)
    return not counts["failed"]


def _suite(name: str, task: str) -> tuple[list[str], Spaces]:
    """A suite's imports, and the spaces of the first of its tasks that is another one."""
    from etude.curriculum.suite import load_suite
    from etude.envs import make_vector
    from etude.envs.checks import Spaces

    suite = load_suite(name)
    like = next((other for other in suite.tasks if other != task), task)
    with closing(make_vector(like, 1)) as env:
        spaces = Spaces(f"{like} in suite {suite.name}", env.single_observation_space, env.single_action_space)
    return list(suite.imports), spaces

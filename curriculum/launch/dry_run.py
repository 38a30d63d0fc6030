"""What a command would run, and where; nothing is made, measured or submitted."""

from __future__ import annotations

from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from etude.curriculum.launch.profile import Profile, SlurmProfile
from etude.curriculum.plan import plan_run, run_names
from etude.curriculum.status import run_status, steps_kept
from etude.curriculum.study import StudyFolder
from etude.curriculum.suite import Suite


def show_dry_run(suite: Suite, out: Path, at_once: int | None, profile: Profile | None, console: Console) -> None:
    """Print the runs that are not done, their steps and evaluation episodes, and what each is given.

    Args:
        suite: checked already.
        out: the study's folder; it need not be there.
        at_once: runs side by side; as many as there is room for if not given.
        profile: of the cluster; None for this machine.
        console: where to.
    """
    rows = []
    for name in run_names(suite):
        plan = plan_run(suite, name.group)
        folder = StudyFolder(out).run(name)
        status = run_status(folder)
        if status.state in ("done", "diverged"):
            continue
        kept = steps_kept(folder, status)
        episodes = suite.evaluation.episodes * sum(len(c.tasks) for c in plan.checkpoints_left(kept))
        rows.append((str(name), plan.segments[-1].end - kept, episodes))
    steps, episodes = (sum(column) for column in list(zip(*rows, strict=True))[1:]) if rows else (0, 0)
    console.print(
        f"{suite.name}: {len(rows)} run{'s' * (len(rows) != 1)} to do in {out}, {steps:,} steps",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    if not rows:
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("run")
    table.add_column("steps", justify="right")
    table.add_column("evaluation episodes", justify="right")
    for run, own_steps, own_episodes in rows:
        table.add_row(run, f"{own_steps:,}", f"{own_episodes:,}")
    table.add_row("all", f"{steps:,}", f"{episodes:,}", style="bold")
    console.print(table)
    together = f"{at_once} at once" if at_once else "as many at once as there is room for"
    if profile is None:
        console.print(f"On this machine, {together}. Nothing was made or run.", highlight=False)
        return
    place, what = ("Slurm", "job") if isinstance(profile, SlurmProfile) else ("Ray", "task")
    console.print(f"On {place}, a {what} a run, {together}, each with:", highlight=False)
    for key, value in _given(profile).items():
        console.print(f"  {key}: {value}", highlight=False, markup=False, soft_wrap=True)
    console.print("Nothing was made or submitted.", highlight=False)


def _given(profile: Profile) -> dict[str, object]:
    if isinstance(profile, SlurmProfile):
        from etude.curriculum.launch.slurm import sbatch_lines

        return sbatch_lines(profile)
    return {key: value for key, value in profile.model_dump().items() if value not in (None, {})}

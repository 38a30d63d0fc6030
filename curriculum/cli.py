"""The command line, `etude`: one function a command; what it needs is imported inside it, so that help is quick."""

import json
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from rich.console import Console

DONE, FAILED, WRONG_REQUEST, INTERRUPTED = 0, 1, 2, 130

app = typer.Typer(
    name="etude",
    context_settings={"help_option_names": ["--help", "-h"]},
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Does practising primitive tasks help a robot learn their composition, and what does it forget on the way?",
    epilog="Start with: etude run quick",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
Task = Annotated[str, typer.Argument(metavar="TASK", help="A task's id; see etude tasks.", show_default=False)]
Imports = Annotated[
    list[str] | None,
    typer.Option("--import", metavar="FILE", help="A file ending in .py, or a module, that registers the task."),
]
Study = Annotated[Path, typer.Argument(metavar="DIR", help="A study's folder, like studies/quick.", show_default=False)]
Studies = Annotated[
    list[Path], typer.Argument(metavar="DIR...", help="Studies' folders, like studies/quick.", show_default=False)
]


def _print_version(asked: bool) -> None:
    if asked:
        from etude import __version__

        print(f"etude {__version__}")
        raise typer.Exit


@app.callback()
def _etude(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def tasks(as_json: Json = False) -> int:
    """List the tasks that suites can use, those of installed packages included."""
    from etude.envs import get_task, plugin_faults, task_ids

    specs = [get_task(task) for task in task_ids()]
    faults = plugin_faults()
    for fault in faults:
        print(f"etude: {fault}", file=sys.stderr)
    if as_json:
        _print_json(
            [
                {
                    "id": spec.id,
                    "kind": spec.kind,
                    "parts": list(spec.parts),
                    "horizon": spec.horizon,
                    "version": spec.version,
                    "gymnasium_id": spec.gymnasium_id,
                    "description": spec.description,
                    "starts": spec.starts,
                }
                for spec in specs
            ]
        )
        return FAILED if faults else DONE
    from rich.padding import Padding
    from rich.text import Text

    console = _console()
    for spec in specs:
        kind = f"{spec.kind} of {', '.join(spec.parts)}" if spec.parts else spec.kind
        console.print(f"[bold]{spec.id}[/bold]  {kind}, {spec.horizon} steps", highlight=False)
        console.print(Padding(Text(f"{spec.description}\nStarts: {spec.starts}"), (0, 0, 1, 4)))
    return FAILED if faults else DONE


@app.command()
def check(
    task: Task,
    suite: Annotated[
        str | None, typer.Option(metavar="SUITE", help="Whose spaces the task's should be; its imports are taken too.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=2, help="Episodes of the oracle and of each failing policy.")] = 500,
    imports: Imports = None,
    as_json: Json = False,
) -> int:
    """Check a task, yours or ours, for what would spoil a study: exit 1 if anything does.

    That it is the same bits from the same seed, wherever and among however many; that episodes start apart, run soundly
    and end at the horizon; that its oracle solves it and chance does not.
    """
    from etude.curriculum.checking import check_task, print_findings

    findings = check_task(task, suite, [*(imports or ())], episodes)
    if as_json:
        found = list(findings)
        rows = [{**vars(finding), "measured": dict(finding.measured)} for finding in found]
        passed = not any(finding.outcome == "failed" for finding in found)
        _print_json({"task": task, "passed": passed, "episodes": episodes, "checks": rows})
    else:
        passed = print_findings(task, findings, _console())
    return DONE if passed else FAILED


@app.command()
def oracle(
    task: Task,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each policy.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Which starts; other seeds give other starts.")] = 0,
    imports: Imports = None,
    as_json: Json = False,
) -> None:
    """Measure what scores 100 and 0: a task's oracle, and random and zero actions.

    The floor, a score of 0, is the larger mean return of the two, or of the task's own floor where it has one.
    """
    from etude.oracles.measure import margin_fault, measure_oracle

    _import(imports, task)
    measured = measure_oracle(task, episodes, seed)
    if fault := margin_fault(measured):
        print(f"etude: {fault}", file=sys.stderr)
    if as_json:
        return _print_json(measured)
    table = _table("policy", ">return", "95% interval", ">success", "95% interval", ">variation")
    for policy, row in measured.items():
        if not isinstance(row, dict):
            continue
        table.add_row(
            policy,
            f"{row['return']:z.2f}",
            _interval(row["return_interval"], "{:z.2f}"),
            f"{row['success']:.1%}",
            _interval(row["success_interval"], "{:.1%}"),
            "" if row["variation"] is None else f"{row['variation']:.1%}",
        )
    console = _console()
    console.print(f"{task}: episodes {episodes}, seed {seed}; success is that of the last step", highlight=False)
    console.print(table)


@app.command()
def watch(
    task: Task,
    policy: Annotated[
        str, typer.Option(help="oracle, random, zero, or a run's folder, like studies/quick/runs/sequential-seed0.")
    ] = "oracle",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A video, .mp4 or .gif; a sheet, .png or .jpg.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="How many.")] = 1,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Other starts than those that agents are evaluated on.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Show it in MuJoCo's viewer, and write no file.")] = False,
    suite: Annotated[str | None, typer.Option(metavar="SUITE", help="Whose imports are taken too.")] = None,
    imports: Imports = None,
) -> None:
    """Show episodes of a task: as a video, a contact sheet, or live.

    Of a run's folder the newest policy plays; RUN/policies/STEP is another one.
    """
    from etude.envs.errors import RequestError

    if live == (out is not None):
        raise RequestError(f"watch {task}: takes either --out FILE, such as --out {task}.mp4, or --live")
    from etude.curriculum.watch import Watch, check_out, write_episodes

    if suite is not None:
        from etude.curriculum.suite import load_suite

        load_suite(suite)
    _import(imports, task)
    if out is None:
        from etude.curriculum.live import check_screen, show_episodes

        check_screen()
        watched = Watch(task, policy, episodes, seed, render_mode=None)
        ends = show_episodes(watched)
    else:
        check_out(out)
        watched = Watch(task, policy, episodes, seed)
        ends = write_episodes(watched, out)
    watched.close()
    print(watched.title)
    for end in ends:
        outcome = "success" if end.success else "no success"
        print(f"episode {end.episode + 1}: {end.tally}, {outcome} at the last of {end.step} steps")
    print(watched.measured)
    if out is not None:
        print(f"written: {out}")


@app.command()
def run(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="A suite's name, like quick, or its YAML file.", show_default=False)
    ],
    changes: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Changes to it, like seeds=[0,1].", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The study's folder; studies/<suite> if not given.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Runs side by side; if not given, as many as there are cores, or as a cluster has room."
        ),
    ] = None,
    on: Annotated[Literal["local", "slurm", "ray"], typer.Option(help="This machine, or a cluster.")] = "local",
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="PROFILE", help="What a cluster gives each run: a name, or a YAML file.", show_default=False
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be run, and where; do nothing.")] = False,
) -> int:
    """Train and evaluate what a suite says. The same command goes on where it was stopped.

    On a cluster, profile.KEY=VALUE changes the profile, like profile.minutes=60.
    """
    from etude.curriculum.claim import check_folder, holds
    from etude.curriculum.launch.profile import load_profile, split_changes
    from etude.curriculum.suite import Suite, load_suite

    def folder(suite: Suite) -> Path:
        return out or Path("studies") / suite.name

    def begun(suite: Suite) -> bool:
        check_folder(folder(suite))
        return holds(suite, folder(suite))

    of_suite, of_profile = split_changes(changes or ())
    if on == "local" and (profile is not None or of_profile):
        from etude.envs.errors import RequestError

        raise RequestError("a profile says what a cluster gives each run; with it goes --on slurm or --on ray")
    given_by_cluster = None if on == "local" else load_profile(on, profile, of_profile)
    resolved = load_suite(suite, of_suite, begun)
    cores = len(os.sched_getaffinity(0))
    if dry_run:
        from etude.curriculum.launch.dry_run import show_dry_run

        at_once = jobs or (cores if on == "local" else None)
        show_dry_run(resolved, folder(resolved), at_once, given_by_cluster, _console())
        return DONE
    from etude.curriculum.launch import make_cluster, run_study

    cluster = None if given_by_cluster is None else make_cluster(given_by_cluster, jobs)
    try:
        code = run_study(resolved, folder(resolved), jobs if jobs and not cluster else cores, cluster=cluster)
    except OSError as error:
        if error.filename is None:
            raise
        from etude.envs.errors import RunError

        raise RunError(f"{error.filename}: {error.strerror}; the same command goes on") from error
    if code == INTERRUPTED and cluster is not None and (told := cluster.left_behind(folder(resolved))):
        print("\n".join(told))
    elif code == INTERRUPTED:
        options = {"out": out, "jobs": jobs, "on": None if on == "local" else on, "profile": profile}
        given = [f"--{name}={value}" for name, value in options.items() if value is not None]
        print("Stopped. Everything recorded is kept; this goes on:")
        print(f"  {shlex.join(['etude', 'run', suite, *(changes or ()), *given])}")
    return code


@app.command()
def status(
    study: Study,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it anew every second, until nobody is at work there.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show how far each run of a study has come, also while they run.

    With --watch --json, a line a change.
    """
    _check_study(study)
    if watch:
        from etude.curriculum.follow import follow, follow_as_json

        try:
            if as_json:
                return follow_as_json(study)
            follow(study, _console())
        except KeyboardInterrupt:
            return None
    from etude.curriculum.status import study_status

    found = study_status(study)
    if as_json:
        return _print_json(found)
    from etude.curriculum.report.standing import print_standing

    print_standing(found, _console())


@app.command()
def metrics(
    study: Study,
    tier: Annotated[
        Literal["core", "extended", "full"],
        typer.Option(help="core reads the records alone, extended the saved policies too, full takes long."),
    ] = "core",
    add: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="One more: its name, or module:function, or my.py:function of yours."),
    ] = None,
    of: Annotated[
        Literal["score", "success"], typer.Option(help="Read scores, or success rates in percent.")
    ] = "score",
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a row of CSV a number.")] = False,
) -> None:
    """Make a study's metrics, table and figures again from its records."""
    _check_study(study)
    if as_json and as_csv:
        from etude.envs.errors import RequestError

        raise RequestError("metrics: takes either --json or --csv")
    from etude.curriculum.launch.display import shown_on_stderr
    from etude.curriculum.metrics.compute import measure_study
    from etude.curriculum.metrics.curves import load_curves

    curves = load_curves(study, of)
    with shown_on_stderr() as tell:
        values = measure_study(curves, tier, add or (), tell)
    if as_json:
        return _print_json(values)
    from etude.curriculum.report.numbers import print_numbers, write_csv

    if as_csv:
        return write_csv(sys.stdout, values)
    from etude.curriculum.report.figures import draw_learning_curves
    from etude.curriculum.report.table import print_table

    draw_learning_curves(curves, study / "figures")
    print_numbers(_console(), values)
    print_table(study, _console(), values)


@app.command()
def report(
    studies: Studies,
    of: Annotated[
        Literal["score", "success"], typer.Option(help="Read scores, or success rates in percent.")
    ] = "score",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where it goes: the study's folder, or ./comparison for several.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Compare studies that should not be.")] = False,
) -> None:
    """Write a study's results as one HTML file that opens offline, or several studies side by side."""
    for study in studies:
        _check_study(study)
    from etude.curriculum.report.write import write_reports

    print(f"written: {write_reports(studies, of, out, force)}")


@app.command()
def export(
    studies: Studies,
    to: Annotated[Path, typer.Option(metavar="FILE", help="A .parquet or .csv file.", show_default=False)],
) -> None:
    """Write every evaluation episode of studies as a row of a table, for pandas, polars or DuckDB."""
    for study in studies:
        _check_study(study)
    from etude.curriculum.export import export_episodes

    print(f"written: {to}, {export_episodes(studies, to):,} episodes")


@app.command("import")
def import_(
    log: Annotated[Path, typer.Argument(metavar="FILE", help="The log, a file or a folder.", show_default=False)],
    format: Annotated[
        Literal["tidy", "continual-world", "l2logger"], typer.Option("--format", help="What the log is.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the study to be made.", show_default=False)],
    floor: Annotated[
        list[str] | None, typer.Option(metavar="[TASK=]NUMBER", help="What scores 0 in the log's own numbers; 0.")
    ] = None,
    oracle: Annotated[
        list[str] | None, typer.Option(metavar="[TASK=]NUMBER", help="What scores 100 there; 100.")
    ] = None,
    untrained: Annotated[
        float | None, typer.Option(help="The untrained agent's score, where the log has no step 0.", show_default=False)
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(min=1, help="Episodes of an evaluation, where the log does not say.", show_default=False),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="Of l2logger: what is measured, if not the first.", show_default=False)
    ] = None,
) -> None:
    """Make a study of someone else's logs, so that every metric can be computed of them."""
    from etude.curriculum.logs.write import import_log

    suite = import_log(
        log, format, out, floor=floor or (), oracle=oracle or (), untrained=untrained, episodes=episodes, column=column
    )
    print(f"written: {out}, {', '.join(suite.tasks)}; seeds {', '.join(map(str, suite.seeds))}")
    for note in json.loads((out / "import.json").read_bytes())["notes"]:
        print(note)
    print(f"its metrics: etude metrics {shlex.quote(str(out))}")


@app.command()
def wandb(
    study: Study,
    mode: Annotated[
        Literal["online", "offline"] | None, typer.Option(help="The suite's if not given, or offline if that is off.")
    ] = None,
) -> int:
    """Feed a study's records to Weights & Biases again."""
    _check_study(study)
    from etude.curriculum.suite import read_suite
    from etude.curriculum.wandb_sink import feed_study

    suites = read_suite(study).wandb.mode
    mode = mode or ("offline" if suites == "disabled" else suites)
    if not feed_study(study, mode):
        return FAILED
    print(f"Fed to W&B, {mode}: {study / 'wandb'}")
    return DONE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: those of the process if not given; none at all shows the help.

    Returns:
        The exit code: 0 done, 1 something failed, 2 the request was wrong, 130 interrupted. A failure is told in one
        line on stderr; with ETUDE_TRACEBACK set, after its traceback.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        code = app(list(arguments) or ["--help"], prog_name="etude", standalone_mode=False) or DONE
        if sys.stdout is not None:  # It may have been closed before.
            sys.stdout.flush()
    except (Exception, SystemExit) as error:  # A task's or an agent's own code may ask to exit.
        if isinstance(error, BrokenPipeError) or isinstance(error.__context__, BrokenPipeError):  # click exits on one.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
        if os.environ.get("ETUDE_TRACEBACK"):
            traceback.print_exc()
        line, code = _explain(error)
        print(f"etude: {' '.join(line.split())}", file=sys.stderr)
        return code
    if code == INTERRUPTED:
        print("etude: interrupted", file=sys.stderr)
    return int(code)


def _explain(error: BaseException) -> tuple[str, int]:
    """What to say of a failure, and the exit code."""
    from etude.envs.errors import RequestError, RunError, in_words

    if isinstance(error, RequestError):
        return str(error), WRONG_REQUEST
    if isinstance(error, RunError):
        return str(error), FAILED
    if isinstance(error, typer.TyperException):
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "etude"
        message = error.format_message().replace("Value error, ", "").rstrip(".")
        return f"{message}; see {command} --help", error.exit_code
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}", FAILED
    return f"{in_words(error)} (ETUDE_TRACEBACK=1 shows where)", FAILED


def _import(entries: Sequence[str] | None, task: str) -> None:
    if entries:
        from etude.curriculum.checking import import_named

        import_named(entries, task)


def _check_study(folder: Path) -> None:
    from etude.envs.errors import RequestError

    if (folder / "suite.yaml").is_file():
        return
    usual = Path("studies") / folder
    hint = f"; did you mean {usual}?" if (usual / "suite.yaml").is_file() else ""
    raise RequestError(f"{folder}: not a study; it holds no suite.yaml{hint}")


def _console() -> "Console":
    from rich.console import Console

    return Console()


def _table(*columns: str) -> Any:
    """A table with these columns, those that begin with `>` aligned to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left")
    return table


def _interval(ends: list[float] | None, form: str) -> str:
    return "" if ends is None else " to ".join(form.format(end) for end in ends)


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))

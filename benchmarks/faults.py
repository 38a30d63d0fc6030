"""Kills runs and studies with SIGKILL while they write, goes on, and compares every byte with an undisturbed one's.

python benchmarks/faults.py [kills of each kind of run, 30 if not given] [of each agent's command, 12 if not given]

A process that has imported everything is forked for each attempt, so that a kill costs a second and not an import. The
attempts are told of every file they open for writing, write, fsync, rename, make and remove inside their folder, and
end themselves before one of these, drawn at random: a write they leave half done. Every third kill is a power cut: what
was written and not fsynced since is cut short at a random length as well, and what was made in a folder that was not
fsynced since is gone. Every sixth comes at a random time instead.

`etude run` with its two worker processes is killed from outside as well, when so many evaluations, drawn at random, are
recorded: the command alone, its whole process group, or one of its workers. Then the same command is given again.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

TASKS = """
from etude import register_oracle, register_task
from etude.envs.tabletop.press_button import PressButton
from etude.envs.tabletop.reach import Reach
from etude.oracles.tabletop.press_button import PressButtonOracle
from etude.oracles.tabletop.reach import ReachOracle

for task, oracle, horizon in ((Reach, ReachOracle, 12), (PressButton, PressButtonOracle, 40)):
    brief = register_task(type("Brief", (task,), {"id": f"brief-{task.id}", "horizon": horizon})).id
    register_oracle(type("BriefOracle", (oracle,), {"task": brief}))
"""
MEASURED = ("env_steps_per_s", "peak_mem", "wall_time")
"""The metrics that a clock and the system tell."""
LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT
NAME = "study"  # the same for all, as it stands in metrics.json
AGENTS: dict[str, dict[str, Any]] = {
    "PPO": {"n_steps": 16, "batch_size": 32, "n_epochs": 1},
    "SAC": {"train_freq": 8, "learning_starts": 16, "batch_size": 16, "buffer_size": 40},
}


class Cuts:
    """What a process writes below a folder, counted; before a chosen one of these events it kills itself."""

    def __init__(self, folder: Path, told: Path, at: int | None = None, power: bool = False, seed: float = 0) -> None:
        """Watch `folder` from now on, in this process alone and until its end.

        Args:
            folder: what is elsewhere is not counted.
            told: a file that is told before which event the processes were killed.
            at: the event before which all processes of this process's group are killed.
            power: whether what is not fsynced is cut short then, and new names that are not are gone.
            seed: of how short.
        """
        self.events: list[str] = []
        self._folder, self._told, self._at, self._power = str(folder), told, at, power
        self._draw = random.Random(seed)
        self._synced: dict[str, int] = {}  # the bytes on the disk for certain, of files with more than those
        self._new: set[str] = set()  # what is made in folders that were not fsynced since
        self._fsync = os.fsync
        os.fsync = self._see_fsync  # type: ignore[assignment]
        builtins.open = io.open = self._open  # type: ignore[assignment]
        sys.addaudithook(self._hear)

    def come_to(self, event: str) -> bool:
        """Count an event; whether it is the last one, of which a write shall do the half."""
        self.events.append(event)
        if len(self.events) - 1 != self._at:
            return False
        if event == "write":
            return True
        self.kill()
        return True

    def kill(self) -> None:
        """Kill this process's group, the power with it where that was asked for."""
        if self._power:
            for path, size in self._synced.items():
                if os.path.exists(path):
                    os.truncate(path, self._draw.randint(size, max(size, os.path.getsize(path))))
            for path in self._new:
                shutil.rmtree(path) if os.path.isdir(path) else Path(path).unlink(missing_ok=True)
        with _OPEN(self._told, "w") as file:
            file.write(self.events[-1] + ", power cut" * self._power)
        os.killpg(0, signal.SIGKILL)

    def _ours(self, path: Any) -> bool:
        return isinstance(path, str | os.PathLike) and os.path.abspath(path).startswith(self._folder)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir") and self._ours(arguments[0]):
            self.come_to(event[3:])
            if event == "os.mkdir" and not os.path.exists(arguments[0]):  # It is told of those that fail, too.
                self._new.add(os.path.abspath(arguments[0]))
            if event == "os.rename":
                old, new = (os.path.abspath(path) for path in arguments[:2])
                moved = [path for path in self._synced if path == old or path.startswith(f"{old}/")]
                self._synced |= {new + path[len(old) :]: self._synced.pop(path) for path in moved}
                inside = {path for path in self._new if path.startswith(f"{old}/")}
                self._new = (self._new - inside - {old}) | {new + path[len(old) :] for path in inside}
                if not os.path.exists(new):  # Else there is the old one or the new one, and each will do.
                    self._new.add(new)

    def _see_fsync(self, handle: Any) -> None:
        number = handle if isinstance(handle, int) else handle.fileno()
        path = os.readlink(f"/proc/self/fd/{number}")
        if self._ours(path):
            self.come_to("fsync")
        self._fsync(number)
        self._synced.pop(path, None)
        self._new = {made for made in self._new if os.path.dirname(made) != path}

    def _open(
        self, file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None, *text: Any, **more: Any
    ) -> Any:
        if not set(mode) & set("wax+") or not self._ours(file):
            return _OPEN(file, mode, buffering, encoding, *text, **more)
        path = os.path.abspath(file)
        self.come_to("open")
        if not os.path.exists(path):
            self._new.add(path)
        self._synced.setdefault(path, os.path.getsize(path) if "a" in mode and os.path.exists(path) else 0)
        raw = _Raw(path, mode.replace("b", "").replace("t", ""), self)
        binary = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return binary if "b" in mode else io.TextIOWrapper(binary, encoding or "utf-8", *text, **more)


_OPEN = io.open


class _Raw(io.FileIO):
    """A file that may be torn in the middle of a write."""

    def __init__(self, path: str, mode: str, cuts: Cuts) -> None:
        super().__init__(path, mode)
        self._cuts = cuts

    def write(self, content: Any) -> int:
        if not self._cuts.come_to("write"):
            return super().write(content)
        super().write(memoryview(content)[: len(content) // 2])
        self._cuts.kill()
        raise SystemExit


def attempt(work: Callable[[], object], log: Path, disturb: Callable[[int], None] = lambda child: None) -> int:
    """Do some work in a fork of this process, which leads a group of its own, and disturb it meanwhile.

    Returns:
        0 if it was done, 1 if it failed, -9 if it was killed.
    """
    child = os.fork()
    if child == 0:
        os.setsid()
        with log.open("ab") as output:
            for stream in (1, 2):
                os.dup2(output.fileno(), stream)
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    disturb(child)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_after(seconds: float) -> Callable[[int], None]:
    """What kills a process's group after some seconds, if it is still there."""

    def disturb(child: int) -> None:
        time.sleep(seconds)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)

    return disturb


class Trial:
    """One kind of work, of which a folder comes, killed again and again."""

    def __init__(self, place: Path, prepare: Callable[[Path], object], work: Callable[[Path], object]) -> None:
        """Do the work twice undisturbed, once to compare with and once to know what it writes.

        Args:
            place: an empty folder.
            prepare: makes the folder that is worked in.
            work: what is done in it, from nothing or from where it stands.
        """
        self._place, self._prepare, self._work = place, prepare, work
        self.killed: Counter[str] = Counter()
        self.differ: list[str] = []
        self.whole, watched, events = place / "whole" / NAME, place / "watched" / NAME, place / "events"
        prepare(self.whole)
        began = time.perf_counter()
        self._finish(self.whole)
        self.seconds = time.perf_counter() - began

        def watch() -> None:
            cuts = Cuts(watched, events)
            work(watched)
            with _OPEN(events, "w") as file:
                file.write("\n".join(cuts.events))

        prepare(watched)
        assert attempt(watch, place / "log") == 0, (place / "log").read_text()
        self.events = events.read_text().split("\n")
        assert not (differing := self.compare(watched)), differing

    def kill(self, number: int, draw: random.Random) -> None:
        """Work in a fresh folder, be killed once or more, go on to the end, and compare."""
        folder = self._place / str(number) / NAME
        self._prepare(folder)
        kinds = sorted(set(self.events))
        kind = kinds[number % len(kinds)]
        at = draw.choice([place for place, event in enumerate(self.events) if event == kind])
        told = self._place / "told"
        while True:
            seed, power, timed = draw.random(), draw.random() < 1 / 3, draw.random() < 1 / 6

            def work(at: int = at, power: bool = power, timed: bool = timed, seed: float = seed) -> None:
                if not timed:
                    Cuts(folder, told, at, power, seed)
                self._work(folder)

            told.unlink(missing_ok=True)
            disturb = [killed_after(draw.uniform(0, 0.9) * self.seconds)] if timed else []
            code = attempt(work, self._place / "log", *disturb)
            assert code in (0, -signal.SIGKILL), (self._place / "log").read_text()
            if code == 0:
                break
            self.killed[told.read_text() if told.exists() else "random time"] += 1
            if draw.random() < 0.5:
                break
            at = draw.randrange(len(self.events))
        self._conclude(folder)

    def _conclude(self, folder: Path) -> None:
        """Go on to the end, and compare."""
        self._finish(folder)
        if differing := self.compare(folder):
            self.differ.append(f"{folder}: {', '.join(differing)}")
        else:
            shutil.rmtree(folder.parent)

    def _finish(self, folder: Path) -> None:
        assert attempt(lambda: self._work(folder), self._place / "log") == 0, (self._place / "log").read_text()

    def compare(self, folder: Path) -> list[str]:
        """The files of results that are not byte for byte as in the undisturbed folder."""
        wanted, found = contents(self.whole), contents(folder)
        return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


class CommandTrial(Trial):
    """`etude run`, of which three kills in four come from outside."""

    def kill(self, number: int, draw: random.Random) -> None:
        """Work in a fresh folder, be killed, give the same command again, and compare."""
        if number % 4 == 3:
            return super().kill(number, draw)
        folder = self._place / str(number) / NAME
        whom = ("the command alone", "its process group", "a worker")[number % 4]
        lines = draw.randint(0, recorded(self.whole))
        pause = draw.uniform(0, 0.5 if lines else self.seconds / 2)

        def disturb(child: int) -> None:
            while recorded(folder) < lines and os.waitid(os.P_PID, child, LOOK) is None:
                time.sleep(0.01)
            time.sleep(pause)
            if os.waitid(os.P_PID, child, LOOK) is not None:
                return
            workers = Path(f"/proc/{child}/task/{child}/children").read_text().split()
            if whom == "a worker" and not workers:
                return
            self.killed[whom] += 1
            if whom == "its process group":
                os.killpg(child, signal.SIGKILL)
            else:
                os.kill(int(draw.choice(workers)) if whom == "a worker" else child, signal.SIGKILL)

        attempt(lambda: self._work(folder), self._place / "log", disturb)
        self._conclude(folder)


def recorded(folder: Path) -> int:
    """How many evaluations are recorded in a study."""
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("runs/*/evaluations.jsonl"))


def contents(folder: Path) -> dict[str, bytes]:
    """Evaluations, training statistics, policies, references and metrics of a study, and nothing with a clock in it."""
    patterns = ("runs/*/*.jsonl", "runs/*/policies/*/*", "references.json")
    found = {str(path.relative_to(folder)): path.read_bytes() for each in patterns for path in folder.glob(each)}
    for path in folder.glob("metrics.json"):
        metrics = json.loads(path.read_bytes())
        for values in (metrics["metrics"], *metrics["costs"].values()):
            for name in MEASURED:
                values.pop(name, None)
        found[path.name] = json.dumps(metrics).encode()
    return found


def run_trial(place: Path, agent: str, regime: str) -> Trial:
    """A run of a study of two brief tasks, executed as a worker does, with a save at every checkpoint."""
    from etude.curriculum import runner
    from etude.curriculum.claim import claim_folder
    from etude.curriculum.suite import load_suite

    place.mkdir()
    suite = load_suite(str(write_suite(place, agent)))

    def work(folder: Path) -> None:
        runner.SAVING_SHARE = 1.0  # In the fork, that is, and not for whoever imports this.
        runner.execute(folder / "runs" / f"{regime}-seed0")

    return Trial(place, lambda folder: claim_folder(suite, folder), work)


def command_trial(place: Path, agent: str) -> Trial:
    """The whole of `etude run`, references, two workers and metrics included."""
    from etude.curriculum.cli import main

    place.mkdir()
    suite = str(write_suite(place, agent))

    def work(folder: Path) -> None:
        if (code := main(["run", suite, "--jobs=2", f"--out={folder}"])) != 0:
            raise SystemExit(code)

    return CommandTrial(place, lambda folder: None, work)


def write_suite(place: Path, agent: str) -> Path:
    """A suite of two tasks of 64 steps, its tasks in a file beside its folder."""
    import yaml

    tasks = place.parent / "brief_tasks.py"
    tasks.write_text(TASKS)
    parameters = AGENTS[agent] | {"policy_kwargs": {"net_arch": [8]}}
    suite = {
        "name": "brief",
        "tasks": ["brief-reach", "brief-press-button"],
        "budget": 64,
        "seeds": [0],
        "evaluation": {"every": 32, "episodes": 2},
        "agent": {"algorithm": agent, "environments": 2, "parameters": parameters},
        "wandb": {"mode": "disabled"},
        "imports": [str(tasks)],
    }
    (place / "suite.yaml").write_text(yaml.safe_dump(suite))
    return place / "suite.yaml"


def main() -> None:
    runs, commands = (*map(int, sys.argv[1:]), *(30, 12)[len(sys.argv) - 1 :])
    import torch

    torch.set_num_threads(1)
    root = Path(tempfile.mkdtemp(prefix="faults-"))
    draw, total, differ = random.Random(0), 0, 0
    print(f"{'':16} {'kills':>5} {'differ':>6} {'events':>6} {'whole run':>9} {'all':>7}")
    for name, make, wanted in (
        *(
            (f"{a} {r}", lambda p, a=a, r=r: run_trial(p, a, r), runs)
            for a in AGENTS
            for r in ("sequential", "scratch")
        ),
        *((f"etude run, {a}", lambda p, a=a: command_trial(p, a), commands) for a in AGENTS),
    ):
        began = time.perf_counter()
        trial = make(root / name.replace(" ", "-").replace(",", ""))
        number = 0
        while trial.killed.total() < wanted:
            trial.kill(number, draw)
            number += 1
        kills = trial.killed.total()
        total, differ = total + kills, differ + len(trial.differ)
        seconds = time.perf_counter() - began
        print(
            f"{name:16} {kills:5} {len(trial.differ):6} {len(trial.events):6} {trial.seconds:7.1f} s {seconds:5.0f} s"
        )
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(trial.killed.items()))
        print(textwrap.fill(kinds, 78, initial_indent="  ", subsequent_indent="  "), flush=True)
        for line in trial.differ:
            print(f"  {line}")
    print(f"{differ} of {total} kills differ")
    if not differ:
        shutil.rmtree(root)
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()

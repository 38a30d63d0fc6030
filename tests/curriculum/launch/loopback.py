"""A Slurm cluster of one machine, this one: its daemons, started in a folder and stopped at the end."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

CONFIGURATION = """
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller_port}
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmdSpoolDir={folder}/spool
StateSaveLocation={folder}/state
ReturnToService=2
KillWait=1
SchedulerParameters=sched_interval=1,sched_min_interval=0
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={node_port} CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes=one Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str | None:
    """Why there can be no such cluster here, in words; None where there can."""
    lacking = [command for command in ("slurmctld", "slurmd", "sbatch", "srun") if shutil.which(command) is None]
    if lacking:
        return f"{', '.join(lacking)} not installed: apt-get install slurmctld slurmd slurm-client"
    if os.getuid() != 0:
        return "Slurm's daemons want to be root"
    return None


@contextmanager
def loopback_slurm(folder: Path) -> Iterator[Path]:
    """Run the daemons as long as the block lasts; gives the configuration file, for SLURM_CONF."""
    (folder / "state").mkdir(parents=True)
    (folder / "spool").mkdir()
    configuration = folder / "slurm.conf"
    host, cpus = socket.gethostname().split(".")[0], os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20 - 512
    ports = {"controller_port": _free_port(), "node_port": _free_port()}
    configuration.write_text(
        CONFIGURATION.format(host=host, user="root", folder=folder, cpus=cpus, memory=memory, **ports)
    )
    environment = os.environ | {"SLURM_CONF": str(configuration)}
    with ExitStack() as stack:
        for command in (["slurmctld", "-c", "-D"], ["slurmd", "-D", "-N", "one"]):
            log = stack.enter_context((folder / f"{command[0]}.log").open("wb"))
            daemon = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
            )
            stack.callback(_stop, daemon)
        end = time.monotonic() + 60
        while "idle" not in _sinfo(environment):
            assert time.monotonic() < end, (folder / "slurmctld.log").read_text() + (folder / "slurmd.log").read_text()
            time.sleep(0.2)
        try:
            yield configuration
        finally:
            subprocess.run(["scancel", "--user=root"], env=environment, check=False, capture_output=True)
            _wait_until_empty(environment)


def _sinfo(environment: dict[str, str]) -> str:
    asked = subprocess.run(
        ["sinfo", "-h", "-o", "%T"], env=environment, check=False, capture_output=True, text=True, timeout=60
    )
    return asked.stdout


def _wait_until_empty(environment: dict[str, str]) -> None:
    for _ in range(50):
        if not subprocess.run(["squeue", "-h"], env=environment, check=False, capture_output=True).stdout.strip():
            return
        time.sleep(0.2)


def _stop(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(20)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])

"""What a cluster gives each run: queue, time, memory, processors, GPUs; a YAML file checked before anything is made."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from etude.curriculum.faults import first_fault
from etude.curriculum.library import find_file, read_mapping, shortened
from etude.curriculum.overrides import override
from etude.curriculum.suite import Text, Whole
from etude.envs.errors import RequestError

Place = Literal["slurm", "ray"]
PREFIX = "profile."

Count = Annotated[int, Field(ge=0, le=10_000), Whole]
Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Profile(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class SlurmProfile(_Profile):
    """What Slurm gives each run's job.

    Attributes:
        partition: the queue; the cluster's default if not given.
        account: who pays.
        qos: quality of service.
        minutes: the time limit; a run that needs longer is saved, requeued, and goes on.
        notice: seconds before the time limit at which a run is told to save itself.
        requeues: how many times a run may come to its time limit.
        cpus: processors; a run uses one, and a little of a second.
        memory_gb: memory; the cluster's default if not given.
        gpus: GPUs; an agent takes one that its job was given if its parameters say `device: auto`.
        setup: shell commands before the run, like `module load cuda`.
        options: further options of sbatch by their long names, like `{constraint: skylake}`.
    """

    partition: Text | None = None
    account: Text | None = None
    qos: Text | None = None
    minutes: Annotated[int, Field(gt=0), Whole] = 240
    notice: Annotated[int, Field(ge=1), Whole] = 120
    requeues: Count = 100
    cpus: Annotated[int, Field(gt=0), Whole] = 1
    memory_gb: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    gpus: Count = 0
    setup: Annotated[tuple[Text, ...], Field(strict=False)] = ()
    options: dict[str, str | int | float | bool] = {}


class RayProfile(_Profile):
    """What Ray gives each run's task.

    Attributes:
        address: of the cluster, like `10.0.0.1:6379`; `auto` finds the one that this machine is part of.
        retries: how many times a run may lose its machine.
        cpus: processors; a run uses one, and a little of a second.
        memory_gb: memory; not reserved if not given.
        gpus: GPUs, of which several runs may share one, as in 0.25.
        resources: further resources by the names that the cluster's machines were given.
    """

    address: Text = "auto"
    retries: Count = 100
    cpus: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    memory_gb: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    gpus: Number = 0.0
    resources: dict[str, Number] = {}


Profile = SlurmProfile | RayProfile
_MODELS: dict[Place, type[Profile]] = {"slurm": SlurmProfile, "ray": RayProfile}


def load_profile(place: Place, name_or_path: str | None, changes: Sequence[str] = ()) -> Profile:
    """The profile in a YAML file, with changes made to it.

    Args:
        place: what kind of cluster it is for.
        name_or_path: a profile of ours by its name, or a YAML file; the one named like the place if not given.
        changes: `key=value` each, the key without `profile.`.

    Raises:
        RequestError: the first thing wrong, in one line.
    """
    name = name_or_path or place
    settings = read_mapping(find_file("profiles", name))
    model = _MODELS[place]
    try:
        settings = override(settings, changes)
        return model.model_validate(settings)
    except ValidationError as error:
        raise RequestError(f"{place} profile {shortened(name)}: {first_fault(error, model, settings)}") from None
    except RequestError as error:
        raise RequestError(f"{place} profile {shortened(name)}: {error}") from None


def split_changes(changes: Sequence[str]) -> tuple[list[str], list[str]]:
    """The changes to a suite, and those to a profile, which begin with `profile.`, without it."""
    of_suite = [change for change in changes if not change.startswith(PREFIX)]
    return of_suite, [change.removeprefix(PREFIX) for change in changes if change.startswith(PREFIX)]

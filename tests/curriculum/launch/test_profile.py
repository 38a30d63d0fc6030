from pathlib import Path

import pytest

from etude.curriculum.launch.profile import RayProfile, SlurmProfile, load_profile, split_changes
from etude.curriculum.launch.slurm import sbatch_lines
from etude.envs.errors import RequestError


def test_the_profiles_that_come_with_the_package_say_every_key() -> None:
    slurm, ray = load_profile("slurm", None), load_profile("ray", None)
    assert slurm == SlurmProfile(memory_gb=4.0) and slurm.model_fields_set == set(SlurmProfile.model_fields)
    assert ray == RayProfile() and ray.model_fields_set == set(RayProfile.model_fields)


def test_a_profile_of_ones_own_is_changed_key_by_key(tmp_path: Path) -> None:
    path = tmp_path / "gpu.yaml"
    path.write_text("{partition: gpu, gpus: 1, options: {constraint: skylake}}")
    profile = load_profile("slurm", str(path), ["minutes=60", "options.exclude=node7", "memory_gb=1.5"])
    assert sbatch_lines(profile) == {
        "partition": "gpu",
        "gpus-per-node": 1,
        "time": 60,
        "signal": "USR2@120",
        "cpus-per-task": 1,
        "mem": "1536M",
        "requeue": True,
        "constraint": "skylake",
        "exclude": "node7",
    }


def test_changes_to_the_profile_are_told_from_those_to_the_suite() -> None:
    changes = ["seeds=[0]", "profile.minutes=60", "agent=sac"]
    assert split_changes(changes) == (["seeds=[0]", "agent=sac"], ["minutes=60"])


@pytest.mark.parametrize(
    ("place", "change", "told"),
    [
        ("slurm", "minute=3", "slurm profile slurm: minute: there is no such key; did you mean minutes"),
        ("slurm", "minutes=0", "slurm profile slurm: minutes: 0 must be above 0"),
        ("slurm", "gpus=0.5", "slurm profile slurm: gpus: 0.5 is not an integer"),
        ("ray", "gpus=-1", "ray profile ray: gpus: -1 must be at least 0"),
        ("ray", "partition=gpu", "ray profile ray: partition: there is no such key"),
        ("ray", "minutes", "ray profile ray: 'minutes' is not an override"),
    ],
)
def test_what_is_wrong_in_a_profile_is_named(place: str, change: str, told: str) -> None:
    with pytest.raises(RequestError, match=told):
        load_profile(place, None, [change])  # type: ignore[arg-type]


def test_a_profile_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(RequestError, match="gpu: there is no such profile; known: ray, slurm"):
        load_profile("slurm", "gpu")

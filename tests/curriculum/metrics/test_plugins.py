"""Metrics that come with installed packages, in a process of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.curriculum.studies import make_suite, realistic, write_study

MODULE = """
from etude.curriculum.metrics import Value, metric

@metric(direction="higher", source="our lab", tasks=2)
def {name}(view):
    "The lowest final score."
    return Value(view.scores("sequential")[..., -1].min(axis=-1))

number = 3
"""


def install(site: Path, package: str, entry: str) -> None:
    """Lay out a package as its installer would: a module with a metric of its name, and one entry point."""
    (site / f"{package}.py").write_text(MODULE.format(name=f"of_{package}"))
    info = site / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[etude.metrics]\nmine = {entry}\n")


def test_metrics_of_installed_packages_are_measured_and_a_broken_one_is_a_warning(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for package, entry in (("lab_one", "lab_one"), ("lab_two", "lab_two:of_lab_two"), ("lab_bad", "lab_bad:number")):
        install(site, package, entry)
    (site / "lab_gone-1.0.dist-info").mkdir()
    (site / "lab_gone-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: lab_gone\nVersion: 1.0\n")
    (site / "lab_gone-1.0.dist-info/entry_points.txt").write_text("[etude.metrics]\nmine = lab_gone\n")
    suite = make_suite(("reach", "unlock-drawer"), 20)
    study = write_study(tmp_path / "study", suite, realistic(suite))
    command = [sys.executable, "-c", "import sys, etude_command; sys.exit(etude_command.main())"]
    done = subprocess.run(
        [*command, "metrics", str(study), "--json"],
        capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(site)}, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    measured = json.loads(done.stdout)
    lowest = min(measured["metrics"]["score_matrix"]["value"][-1])
    for name in ("of_lab_one", "of_lab_two"):
        assert measured["metrics"][name]["value"] == lowest
        assert measured["metrics"][name]["interval"] is not None
        assert measured["metrics"][name]["direction"] == "higher"
    bad, gone = measured["warnings"]
    assert bad.startswith(
        "package lab_bad: etude.metrics entry point mine = lab_bad:number: RequestError: 3 is no metric"
    )
    assert gone.startswith("package lab_gone: etude.metrics entry point mine = lab_gone: ModuleNotFoundError")

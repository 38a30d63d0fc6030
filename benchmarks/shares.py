"""What a study's runs spent their time on, from their status: at most 15% on evaluation and 3% on records and saves.

python benchmarks/shares.py studies/quick
"""

import sys
from pathlib import Path

from etude.curriculum.status import study_status


def main() -> None:
    spent = {"learning": 0.0, "evaluation": 0.0, "saving": 0.0}
    for row in study_status(Path(sys.argv[1]))["runs"]:
        for what, seconds in row["seconds"].items():
            spent[what] += seconds
    for what, seconds in spent.items():
        print(f"{what:10} {seconds:8.1f} s  {seconds / sum(spent.values()):6.1%}")


if __name__ == "__main__":
    main()

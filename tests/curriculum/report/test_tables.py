import csv
import io

import numpy as np
import pytest

from etude.curriculum.report.page import heat_colours
from etude.curriculum.report.tables import Column, Table, show

TABLE = Table(
    "small",
    "Scores of 100% & more_",
    [Column("task"), Column("score"), Column("share", ".0%")],
    [["a, b", 1 / 3, 0.5], ['say "so"', None, 1]],
)


def test_csv_has_every_number_unrounded() -> None:
    rows = list(csv.reader(io.StringIO(TABLE.csv())))
    assert rows[0] == ["task", "score", "share"]
    assert [float(cell) for cell in rows[1][1:]] == [1 / 3, 0.5]
    assert rows[1][0] == "a, b" and rows[2] == ['say "so"', "", "1"]


@pytest.mark.parametrize(
    ("value", "shown"), [(0.123456, "0.12"), (-0.001, "0.00"), (123456.7, "123,457"), (3.2e12, "3.2e+12"), (None, "–")]
)
def test_numbers_of_any_size_are_shown_short(value: float | None, shown: str) -> None:
    assert show(value, "auto") == shown


def test_numbers_on_colours_keep_a_contrast_of_4_5() -> None:
    def luminance(colour: list[int]) -> float:
        linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    for value in np.linspace(-1, 1, 201):
        back, fore = heat_colours(float(value), -1, 1)
        lights = sorted(
            (
                luminance([int(c) for c in back[4:-1].split(",")]),
                luminance([int(fore[i : i + 2], 16) for i in (1, 3, 5)]),
            )
        )
        assert (lights[1] + 0.05) / (lights[0] + 0.05) >= 4.5

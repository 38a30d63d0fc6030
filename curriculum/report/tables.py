"""Tables to be shown and copied: the same numbers as HTML cells, CSV and LaTeX."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from etude.curriculum.report.latex import latex_table

T = TypeVar("T")
Cell = str | int | float | bool | None

NONE = "–"
"""Stands where there is no number."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        heading: what stands above it.
        form: how its numbers are shown, as `format` reads it, or "auto" where their size is not known before; CSV has
            them unrounded.
        printed: whether LaTeX has it too, where what explains a row would only take the numbers' room.
    """

    heading: str
    form: str = "z.1f"
    printed: bool = True


@dataclass(frozen=True)
class Table:
    """A table; the first cell of a row names it.

    Attributes:
        name: its file's name, and its anchor on the page.
        caption: what it shows, in a sentence.
        columns: (C,) from left to right.
        rows: each (C,) of numbers and text; None where there is nothing.
        note: what must be known to read it.
        heat: the two ends of the colour scale behind the numbers, where the table is a matrix.
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    heat: tuple[float, float] | None = field(default=None)

    @property
    def numeric(self) -> list[bool]:
        """(C,) which columns are aligned as numbers."""
        return [any(is_number(row[place]) for row in self.rows) for place in range(len(self.columns))]

    def shown(self, row: Sequence[Cell]) -> list[str]:
        """A row's cells as they are read."""
        return [show(cell, column.form) for cell, column in zip(row, self.columns, strict=True)]

    def csv(self) -> str:
        """The table with a heading line, numbers unrounded, empty where there is none."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([column.heading for column in self.columns])
        writer.writerows([["" if cell is None else cell for cell in row] for row in self.rows])
        return text.getvalue()

    def latex(self) -> str:
        """The table for a paper, numbers rounded as on the page."""
        printed = [place for place, column in enumerate(self.columns) if column.printed]

        def of(values: Sequence[T]) -> list[T]:
            return [values[place] for place in printed]

        headings = [column.heading for column in self.columns]
        rows = [of(self.shown(row)) for row in self.rows]
        return latex_table(self.name, self.caption, of(headings), rows, of(self.numeric))


def show(cell: Cell, form: str = "z.1f") -> str:
    """A cell as it is read."""
    if cell is None:
        return NONE
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return cell
    if form == "auto":
        form = "z.2f" if abs(cell) < 1000 else ",.0f" if abs(cell) < 1e7 else ".3g"
    return format(cell, form)


def is_number(cell: Cell) -> bool:
    """Whether a cell is aligned as a number."""
    return isinstance(cell, int | float) and not isinstance(cell, bool)

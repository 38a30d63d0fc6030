"""Tables as LaTeX prints them: with rules of booktabs, as wide as a page and no wider."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

LINE = 345.0
"""Points of a line of the narrowest usual page, LaTeX's article; widths are shares of it."""
SIZES = (("", 5.1, 12.0), (r"\footnotesize\setlength{\tabcolsep}{3pt}", 4.2, 6.0))
"""How large text is set: LaTeX's words for it, points of a letter on average, points between columns."""
LONG = 24
"""Letters from which on a column of text is broken into lines."""
BREAKABLE = 12
"""Letters that such a column has at the least."""
ROWS = 40
"""Rows that fit on a page; longer tables go over several."""

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "×": r"$\times$",
    "−": r"$-$",
    "\n": " ",
}


@dataclass(frozen=True)
class _Shape:
    """How a table is set: the size of its text, and of each column the letters of a line, None where it is unbroken."""

    size: str
    letter: float
    lines: tuple[float | None, ...]


def latex_table(
    name: str, caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]
) -> str:
    """A `table`, or, of more rows than a page has, a `longtable`.

    Text too long for the line is broken, and long headings stand on several lines.

    Args:
        name: what it is referred to by, after `tab:`.
        caption: what stands above it.
        headings: (C,) of the columns.
        rows: each (C,) of cells as they are read.
        numeric: (C,) which columns are aligned as numbers.
    """
    shape = _shape(headings, rows, numeric)
    columns = "".join(
        ("r" if right else "l")
        if line is None
        else rf">{{\raggedright\arraybackslash}}p{{{_share(line, shape)}\linewidth}}"
        for right, line in zip(numeric, shape.lines, strict=True)
    )
    widths = _widths([[""] * len(headings), *rows])
    top = _line(
        [
            escape_latex(heading, broken=True) if line is not None else _stacked(heading, width, right)
            for heading, width, right, line in zip(headings, widths, numeric, shape.lines, strict=True)
        ]
    )
    body = [
        _line([escape_latex(cell, line is not None) for cell, line in zip(row, shape.lines, strict=True)])
        for row in rows
    ]
    broken = any(line is not None for line in shape.lines)
    packages = [*(["array"] if broken else []), "booktabs", *(["longtable"] if len(rows) > ROWS else [])]
    titled = rf"\caption{{{escape_latex(caption)}}}\label{{tab:{name}}}"
    head = [r"\toprule", top, r"\midrule"]
    if len(rows) > ROWS:
        inner = [rf"\begin{{longtable}}{{{columns}}}", titled + r" \\", *head, r"\endfirsthead", *head, r"\endhead"]
        inner += [r"\bottomrule", r"\endfoot", *body, r"\end{longtable}"]
        lines = [rf"\begingroup{shape.size}", *inner, r"\endgroup"]
    else:
        inner = [rf"\begin{{tabular}}{{{columns}}}", *head, *body, r"\bottomrule", r"\end{tabular}"]
        lines = [r"\begin{table}", rf"\centering{shape.size}", titled, *inner, r"\end{table}"]
    return "\n".join([rf"% needs \usepackage{{{','.join(packages)}}}", *lines]) + "\n"


def escape_latex(text: str, broken: bool = False) -> str:
    """Text as LaTeX prints it; `broken` may have line breaks inside its names."""
    escaped = "".join(_ESCAPED.get(letter, letter) for letter in text)
    return re.sub(r"(\\_|[./-])(?=\w)", r"\1\\allowbreak{}", escaped) if broken else escaped


def _shape(headings: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> _Shape:
    """The largest text in which the table fits the line; if none does, the smaller, and more columns broken."""
    words = [max(map(len, _words(heading)), default=0) for heading in headings]
    widths = [max(word, width) for word, width in zip(words, _widths([[""] * len(headings), *rows]), strict=True)]
    long = {place for place, width in enumerate(widths) if width > LONG and not numeric[place]}
    texts = sorted((place for place, right in enumerate(numeric) if not right), key=lambda place: -widths[place])
    for broken in (long, long | {place for place in texts[:1] if widths[place] > BREAKABLE}):
        for size, letter, gap in SIZES:
            room = (LINE - gap * len(widths)) / letter - sum(w for place, w in enumerate(widths) if place not in broken)
            if room >= LONG * len(broken) or (broken != long and room >= BREAKABLE * len(broken)):
                return _Shape(size, letter, _lines(widths, broken, room))
    return _Shape(size, letter, _lines(widths, broken, max(room, BREAKABLE * len(broken))))


def _lines(widths: Sequence[int], broken: set[int], room: float) -> tuple[float | None, ...]:
    """Of each broken column its share of the room, by the length of its text, and no more than that needs."""
    least = BREAKABLE * len(broken)
    whole = sum(widths[place] for place in broken)
    return tuple(
        min(width, BREAKABLE + (room - least) * width / whole) if place in broken else None
        for place, width in enumerate(widths)
    )


def _share(letters: float, shape: _Shape) -> str:
    """Of the line, cut off and not rounded, so that shares never make more than there is."""
    return f"{floor(1000 * letters * shape.letter / LINE) / 1000:.3f}"


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _words(heading: str) -> list[str]:
    return re.findall(r"[^ _]+_?", heading)


def _stacked(heading: str, width: int, right: bool) -> str:
    """A heading wider than its column, its words over each other."""
    words = _words(heading)
    if len(heading) <= width or len(words) < 2:
        return escape_latex(heading)
    lines = [words[0]]
    for word in words[1:]:
        joined = f"{lines[-1]}{'' if lines[-1].endswith('_') else ' '}{word}"
        if len(joined) <= max(width, max(map(len, words))):
            lines[-1] = joined
        else:
            lines.append(word)
    stacked = r" \\ ".join(map(escape_latex, lines))
    return rf"\shortstack[{'r' if right else 'l'}]{{{stacked}}}"


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"

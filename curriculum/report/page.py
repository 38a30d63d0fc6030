"""One HTML file that opens offline: its parts, and how they are filled into the template."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import etude
from etude.curriculum.report.contents import Content, Points, Series
from etude.curriculum.report.plots import Plot, plot
from etude.curriculum.report.tables import Cell, Table, is_number

_TEXT = {"light": "#1b2129", "dark": "#e4e8ee"}
_GRID = {"light": "#d4dae1", "dark": "#343d49"}
_SOFT = {"light": "#55606e", "dark": "#a4afbd"}
_BACK = {"light": "#ffffff", "dark": "#12161c"}


@dataclass(frozen=True)
class Card:
    """A headline number: its name, in which direction it is better, its value, its spread, and what it says here."""

    name: str
    hint: str
    value: str
    spread: str
    sentence: str


@dataclass(frozen=True)
class Figure:
    """An interactive figure, and the table of its numbers for those who do not see it."""

    name: str
    title: str
    caption: str
    alt: str
    content: Content
    table: Table

    @property
    def names(self) -> int:
        """How many names stand in its legend, which needs room."""
        return len(self.content.names) if isinstance(self.content, Series | Points) else 0


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading of its own; what it has not is left out."""

    name: str
    title: str
    texts: Sequence[str] = ()
    key: Sequence[tuple[str, str]] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    listings: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Page:
    """A whole report.

    Attributes:
        kind: what kind of report it is.
        heading: its title.
        lead: a sentence on what was done.
        answer_title: the heading above the cards.
        cards: the answer.
        cautions: sentences without which the answer would be misread.
        alarms: what is wrong with the records or the numbers.
        sections: all the rest, in order.
        of: what scores are, `score` or `success`.
    """

    kind: str
    heading: str
    lead: str
    answer_title: str
    cards: Sequence[Card]
    cautions: Sequence[str] = ()
    alarms: Sequence[str] = ()
    sections: Sequence[Section] = field(default=())
    of: str = "score"

    @property
    def tables(self) -> list[Table]:
        """The tables that are also written as files."""
        return [table for section in self.sections for table in section.tables]


def render(page: Page) -> str:
    """The page as one HTML file; whatever a user named is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=PackageLoader("etude.curriculum.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["styled"] = _styled
    return environment.get_template("page.html").render(
        {name: getattr(page, name) for name in page.__dataclass_fields__},
        title=f"{page.heading} – {page.kind}",
        version=etude.__version__,
        style=Markup(_part("page.css")),
        script=Markup(_part("page.js")),
        plotly=Markup(get_plotlyjs()),
        plot=plot,
        folder="tables" if page.of == "score" else f"tables-{page.of}",
        themes={name: _theme(name) for name in _TEXT},
    )


@cache
def _part(name: str) -> str:
    return files("etude.curriculum.report").joinpath(name).read_text(encoding="utf-8")


SENTENCE = 40
"""Letters from which on a cell is read in lines, which must not be too short."""


def _styled(cell: Cell, heat: tuple[float, float] | None, numeric: bool) -> Any:
    """The attributes of a table's cell: numbers to the right, in a matrix the colour of their value; room for text."""
    from markupsafe import Markup

    if isinstance(cell, str) and len(cell) > SENTENCE:
        return Markup(' class="long"')
    if heat is None or not is_number(cell):
        return Markup(' class="number"' if numeric else "")
    back, fore = heat_colours(float(cell), *heat)  # type: ignore[arg-type]
    return Markup(f' style="background:{back};color:{fore}"')


def heat_colours(value: float, low: float, high: float) -> tuple[str, str]:
    """Background and text colour of a value between two ends: from pale to blue, below 0 from pale to orange."""
    reach = max(abs(low), abs(high)) or 1.0
    share = min(1.0, abs(value) / reach)
    end = (0, 84, 140) if value >= 0 else (168, 66, 0)
    colour = [round(242 + share * (channel - 242)) for channel in end]
    light = _luminance(colour)
    # The one with the larger contrast, as WCAG 2 counts it.
    fore = "#ffffff" if 1.05 / (light + 0.05) > (light + 0.05) / 0.05 else "#000000"
    return f"rgb({','.join(map(str, colour))})", fore


def _luminance(colour: Sequence[int]) -> float:
    """The relative luminance of WCAG 2, 0 to 1."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _theme(name: str) -> Plot:
    axis = {"gridcolor": _GRID[name], "linecolor": _GRID[name], "zerolinecolor": _GRID[name]}
    return {
        "layout": {
            "font": {"color": _TEXT[name], "size": 13, "family": "system-ui, sans-serif"},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {"bgcolor": _BACK[name], "font": {"color": _TEXT[name]}, "bordercolor": _GRID[name]},
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": _SOFT[name], "activecolor": _TEXT[name]},
            "legend": {"bgcolor": "rgba(0,0,0,0)"},
        }
    }

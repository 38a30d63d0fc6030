"""The report's figures for a paper, as PNG and PDF, drawn by matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from etude.curriculum.report.contents import COLOURS, Bars, Points, Ranks, Series
from etude.curriculum.report.figures import STYLE
from etude.curriculum.report.page import Page, heat_colours
from etude.curriculum.report.tables import Table, is_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "osD^vP*X"


def draw_all(page: Page, folder: Path) -> list[Path]:
    """Draw the page's matrices and all figures but the learning curves, which `draw_learning_curves` draws together."""
    drawn: dict[str, Table | Series | Points | Bars | Ranks] = {}
    for section in page.sections:
        drawn |= {table.name: table for table in section.tables if table.heat is not None}
        drawn |= {f.name: f.content for f in section.figures if isinstance(f.content, Series | Points | Bars | Ranks)}
    folder.mkdir(parents=True, exist_ok=True)
    return [path for name, content in drawn.items() for path in draw(content, folder, name)]


def draw(content: Table | Series | Points | Bars | Ranks, folder: Path, name: str) -> tuple[Path, Path]:
    """Draw a matrix or a figure into a folder, as PNG and PDF."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    png, pdf = folder / f"{name}.png", folder / f"{name}.pdf"
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5.2, 3.4), layout="constrained")
        FigureCanvasAgg(figure)
        match content:
            case Table():
                _matrix(figure, content)
            case Series():
                _series(figure, content)
            case Points():
                _points(figure, content)
            case Bars():
                _bars(figure, content)
            case Ranks():
                _ranks(figure, content)
        figure.savefig(png, dpi=200, metadata={"Software": None})
        figure.savefig(pdf, metadata={"CreationDate": None})
    return png, pdf


def _matrix(figure: "Figure", table: Table) -> None:
    assert table.heat is not None
    across = [column.heading for column in table.columns[1:]]
    down = [str(row[0]) for row in table.rows]
    longest = max(map(len, down), default=1)
    figure.set_size_inches(
        0.09 * longest + 0.75 * len(across) + 0.4, 0.09 * max(map(len, across)) + 0.42 * len(down) + 0.4
    )
    panel = figure.subplots()
    colours = np.ones((len(down), len(across), 3))
    for y, row in enumerate(table.rows):
        for x, (cell, shown) in enumerate(zip(row[1:], table.shown(row)[1:], strict=True)):
            fore = "0.4"
            if is_number(cell):
                back, fore = heat_colours(float(cell), *table.heat)  # type: ignore[arg-type]
                colours[y, x] = [int(channel) / 255 for channel in back[4:-1].split(",")]
            panel.text(x, y, shown, ha="center", va="center", color=fore, fontsize=8)
    panel.imshow(colours, aspect="auto")
    panel.set_xticks(range(len(across)), across, rotation=90)
    panel.set_yticks(range(len(down)), down)
    panel.xaxis.tick_top()
    panel.tick_params(length=0)
    for spine in panel.spines.values():
        spine.set_visible(False)


def _series(figure: "Figure", series: Series) -> None:
    panel = figure.subplots()
    words = not all(isinstance(place, int | float) for place in series.places)
    places: Sequence[Any] = range(len(series.places)) if words else series.places
    for index, (name, row) in enumerate(zip(series.names, series.values, strict=True)):
        style = ("-", "--", ":", "-.")[index // len(COLOURS) % 4]
        colour = COLOURS[index % len(COLOURS)]
        panel.plot(places, row, color=colour, ls=style, lw=1.6, marker="o", ms=3, label=_plain(name))
    if words:
        panel.set_xticks(places, [_plain(str(place)) for place in series.places], rotation=90)
    panel.set_xlabel(_plain(series.across))
    panel.set_ylabel(_plain(series.unit))
    if len(series.names) > 1:
        figure.legend(loc="outside lower center", ncols=2)


def _points(figure: "Figure", points: Points) -> None:
    panel = figure.subplots()
    for index, (name, x, y) in enumerate(zip(points.names, points.across, points.up, strict=True)):
        marker, colour = MARKERS[index % len(MARKERS)], COLOURS[index % len(COLOURS)]
        panel.plot(x, y, marker, color=colour, ms=8 if len(x) == 1 else 2, label=_plain(name))
    panel.set_xlabel(_plain(points.titles[0]))
    panel.set_ylabel(_plain(points.titles[1]))
    figure.legend(loc="outside lower center", ncols=2)


def _bars(figure: "Figure", bars: Bars) -> None:
    figure.set_size_inches(5.2, 0.35 * len(bars.names) + 0.9)
    panel = figure.subplots()
    panel.barh(range(len(bars.names)), bars.values, color=COLOURS[0])
    panel.set_yticks(range(len(bars.names)), [_plain(name) for name in bars.names])
    panel.invert_yaxis()
    panel.set_xlabel(_plain(bars.unit))


def _ranks(figure: "Figure", ranks: Ranks) -> None:
    """The critical-difference diagram of Demšar 2006: bars join methods that do not differ."""
    order = np.argsort(ranks.ranks, kind="stable")
    values = np.asarray(ranks.ranks, dtype=np.float64)[order]
    names = [_plain(ranks.names[place]) for place in order]
    figure.set_size_inches(5.6, 0.28 * len(names) + 1.5)
    panel = figure.subplots()
    right = max(len(names), 1 + ranks.critical_difference) + 0.3
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        panel.plot([value, value, right], [0, -1 - place, -1 - place], color="0.2", lw=0.8)
        panel.text(right + 0.1, -1 - place, f"{name} ({value:.2f})", va="center", ha="left")
    height, reached = 0.35, -1
    for first, value in enumerate(values):
        last = int(np.searchsorted(values, value + ranks.critical_difference, side="right")) - 1
        if last > max(first, reached):
            panel.plot([value - 0.03, values[last] + 0.03], [-height, -height], color=COLOURS[0], lw=3)
            height, reached = height + 0.3, last
    panel.plot([1, 1 + ranks.critical_difference], [0.9, 0.9], color="0.2", marker="|")
    panel.text(1, 1.1, f"critical difference {ranks.critical_difference:.2f}", va="bottom")
    panel.set_xlim(0.8, right)
    panel.set_ylim(-1.5 - len(names), 1.6)
    panel.set_xticks(range(1, len(names) + 1))
    panel.xaxis.set_ticks_position("top")
    panel.spines["top"].set_visible(True)
    panel.spines["top"].set_position(("data", 0))
    for side in ("left", "bottom", "right"):
        panel.spines[side].set_visible(False)
    panel.set_yticks([])


def _plain(text: str) -> str:
    """Matplotlib reads dollars as mathematics; what a user named is none."""
    return text.replace("$", r"\$")

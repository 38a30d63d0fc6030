"""The report's interactive figures, for plotly to draw in the browser; the page chooses light or dark."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from etude.curriculum.report.contents import COLOURS, Bars, Content, Points, Ranks, Series
from etude.curriculum.report.figures import AHEAD, BEHIND, LOST, SCRATCH, SEQUENTIAL
from etude.curriculum.report.panels import Area, Line, Panel, thin, worded

Plot = dict[str, Any]
"""A figure as plotly's JSON has it, `data` and `layout`."""

AREAS = {"lost": LOST, "ahead": AHEAD, "behind": BEHIND}
OTHER = "#7A7A7A"
DASHES = ("solid", "dash", "dot", "dashdot")


def plot(content: Content, of: str) -> Plot:
    """A figure in plotly's terms.

    Args:
        content: what it shows.
        of: what scores are, `score` or `success`.
    """
    match content:
        case Panel():
            return _panel(content, "score" if of == "score" else "success (%)")
        case Series():
            return _series(content)
        case Points():
            return _points(content)
        case Bars():
            bars = {"type": "bar", "orientation": "h", "x": _numbers(content.values), "y": _safe(content.names)}
            plotted = _figure([bars | {"marker": {"color": SEQUENTIAL}}], content.unit, "")
            plotted["layout"]["yaxis"]["autorange"] = "reversed"  # the first at the top
            return plotted
        case Ranks():
            return _ranks(content)


def _panel(panel: Panel, unit: str) -> Plot:
    keep = (*panel.boundaries, *(panel.window or ()))
    traces = [_shade(area, keep) for area in panel.areas] + [_curve(line, keep) for line in panel.lines]
    whole = {"xref": "x", "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    shapes: list[Plot] = [
        whole | {"type": "line", "x0": step, "x1": step, "line": {"width": 1, "dash": "dot", "color": "#808080"}}
        for step in panel.boundaries
    ]
    if panel.window is not None:
        begin, end = panel.window
        grey = {"line": {"width": 0}, "fillcolor": "rgba(128,128,128,0.16)"}
        shapes.insert(0, whole | {"type": "rect", "x0": begin, "x1": end} | grey)
    return _figure(traces, "environment steps", unit, shapes=shapes)


def _curve(line: Line, keep: tuple[int, ...]) -> Plot:
    drawn = thin(line.steps, keep)
    colour = {"sequential": SEQUENTIAL, "scratch": SCRATCH}.get(line.group, OTHER)
    trace: Plot = {"type": "scatter", "mode": "lines", "x": line.steps[drawn].tolist()}
    trace["y"] = _numbers(line.scores[drawn])
    name = escape(worded(line.group))
    if line.seed is None:
        dash = {"sequential": "solid", "scratch": "solid", "joint": "dot"}.get(line.group, "dash")
        return trace | {"name": name, "line": {"color": colour, "width": 2.5, "dash": dash}}
    style = {"color": colour, "width": 1, "dash": "solid" if line.finished else "dot"}
    return trace | {"name": f"{name}, seed {line.seed}", "line": style, "opacity": 0.75, "hoverinfo": "skip"}


def _shade(area: Area, keep: tuple[int, ...]) -> Plot:
    drawn = thin(area.steps, keep)
    steps, low, high = _numbers(area.steps[drawn], 12), _numbers(area.low[drawn]), _numbers(area.high[drawn])
    shade: Plot = {"type": "scatter", "mode": "lines", "x": [*steps, *reversed(steps)], "y": [*high, *reversed(low)]}
    shade |= {"fill": "toself", "line": {"width": 0}, "hoverinfo": "skip", "name": area.kind}
    colour = AREAS[area.kind]
    if area.kind == "behind":
        return shade | {"fillpattern": {"shape": "/", "fgcolor": colour, "bgcolor": _faded(colour), "size": 6}}
    return shade | {"fillcolor": _faded(colour)}


def _series(series: Series) -> Plot:
    places = [place if isinstance(place, int | float) else escape(place) for place in series.places]
    traces = [
        {"type": "scatter", "mode": "lines+markers", "name": escape(name), "x": places, "y": _numbers(row)}
        | {"line": {"color": COLOURS[index % len(COLOURS)], "dash": DASHES[index // len(COLOURS) % 4]}}
        for index, (name, row) in enumerate(zip(series.names, series.values, strict=True))
    ]
    return _figure(traces, series.across, series.unit, legend=len(series.names) > 1)


def _points(points: Points) -> Plot:
    traces = [
        {"type": "scatter", "mode": "markers", "name": escape(name), "x": _numbers(x), "y": _numbers(y)}
        | {"marker": {"size": 13 if len(x) == 1 else 5, "color": COLOURS[index % len(COLOURS)], "symbol": index % 8}}
        for index, (name, x, y) in enumerate(zip(points.names, points.across, points.up, strict=True))
    ]
    return _figure(traces, *points.titles, legend=True)


def _ranks(ranks: Ranks) -> Plot:
    half = {"type": "constant", "value": ranks.critical_difference / 2, "color": OTHER}
    trace: Plot = {"type": "scatter", "mode": "markers", "x": _numbers(ranks.ranks), "y": _safe(ranks.names)}
    trace |= {"marker": {"size": 11, "color": SEQUENTIAL}, "error_x": half}
    plotted = _figure([trace], "average rank, 1 is best", "")
    plotted["layout"]["yaxis"]["autorange"] = "reversed"
    return plotted


def _figure(
    traces: Sequence[Mapping[str, Any]], across: str, up: str, shapes: Sequence[Plot] = (), legend: bool = False
) -> Plot:
    """The figure as plotly has checked it."""
    import plotly.graph_objects as go

    layout: Plot = {
        "xaxis": {"title": {"text": escape(across), "font": {"size": 13}}, "automargin": True, "nticks": 6},
        "yaxis": {"title": {"text": escape(up), "font": {"size": 13}}, "automargin": True},
        "margin": {"l": 8, "r": 16, "t": 8, "b": 8},
        "shapes": list(shapes),
        "showlegend": legend,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "hovermode": "closest" if legend else "x unified",
    }
    figure: Plot = go.Figure(list(traces), layout).to_plotly_json()
    figure["layout"].pop("template", None)
    return {"data": list(figure["data"]), "layout": figure["layout"]}


def _safe(names: Sequence[str]) -> list[str]:
    """Plotly reads tags in text; what a user named must not be one."""
    return [escape(name) for name in names]


def _numbers(values: Any, digits: int = 5) -> list[float | None]:
    """Rounded to the digits that can be seen, None for nan."""
    return [None if np.isnan(value) else float(f"{value:.{digits}g}") for value in np.asarray(values, np.float64)]


def _faded(colour: str) -> str:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.35)"

"""Interactive figures, for plotly to draw in the browser: what does not depend on light or dark."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.report.figures import AHEAD, BEHIND, LOST, SCRATCH, SEQUENTIAL
from etude.curriculum.report.panels import Area, Line, Panel, thin

COLOURS = {"sequential": SEQUENTIAL, "scratch": SCRATCH, "scratch-total": "#8C6BB1", "joint": "#7A7A7A"}
ISOLATED = "#7A7A7A"
AREAS = {"lost": LOST, "ahead": AHEAD, "behind": BEHIND}
SERIES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6BB1", "#A0741B", "#3A9BDC", "#7A7A7A")

Plot = dict[str, Any]
"""A figure as plotly's JSON has it, `data` and `layout`."""


def plot_panel(panel: Panel, of: str) -> Plot:
    """A task's learning curves."""
    keep = (*panel.boundaries, *(panel.window or ()))
    traces = [_shade(area, keep) for area in panel.areas] + [_curve(line, keep) for line in panel.lines]
    shapes: list[Plot] = [
        {"type": "line", "xref": "x", "yref": "paper", "x0": step, "x1": step, "y0": 0, "y1": 1, "layer": "below"}
        | {"line": {"width": 1, "dash": "dot"}}
        for step in panel.boundaries
    ]
    if panel.window is not None:
        begin, end = panel.window
        shapes.insert(
            0,
            {"type": "rect", "xref": "x", "yref": "paper", "x0": begin, "x1": end, "y0": 0, "y1": 1, "layer": "below"}
            | {"line": {"width": 0}, "fillcolor": "rgba(128,128,128,0.16)"},
        )
    return _checked(traces, "environment steps", "score" if of == "score" else "success (%)", shapes=shapes)


def plot_series(names: Sequence[str], places: Sequence[str], values: FloatArray, unit: str) -> Plot:
    """Curves over named places, such as the ends of the tasks.

    Args:
        names: (M,) of the curves.
        places: (P,) from left to right.
        values: (M, P); nan where there is none.
        unit: of the values.
    """
    traces = [
        {"type": "scatter", "mode": "lines+markers", "name": escape(name), "x": [escape(place) for place in places]}
        | {"y": _numbers(row), "line": {"color": SERIES[index % len(SERIES)], "dash": _dash(index)}}
        for index, (name, row) in enumerate(zip(names, values, strict=True))
    ]
    return _checked(traces, "", unit, legend=len(names) > 1)


def plot_points(names: Sequence[str], across: FloatArray, up: FloatArray, titles: tuple[str, str]) -> Plot:
    """Named points in a plane, (M,) each."""
    traces = [
        {"type": "scatter", "mode": "markers", "name": escape(name), "x": [float(x)], "y": [float(y)]}
        | {"marker": {"size": 12, "color": SERIES[index % len(SERIES)], "symbol": index % 8}}
        for index, (name, x, y) in enumerate(zip(names, across, up, strict=True))
    ]
    return _checked(traces, *titles, legend=True)


def plot_bars(names: Sequence[str], values: FloatArray, unit: str) -> Plot:
    """A bar a name, (M,)."""
    bars = {"type": "bar", "orientation": "h", "x": _numbers(values), "y": [escape(name) for name in names]}
    return _checked([bars | {"marker": {"color": SEQUENTIAL}}], unit, "")


def _curve(line: Line, keep: tuple[int, ...]) -> Plot:
    drawn = thin(line.steps, keep)
    isolated = line.group.startswith("isolated-")
    colour = ISOLATED if isolated else COLOURS[line.group]
    trace: Plot = {"type": "scatter", "mode": "lines", "x": line.steps[drawn].tolist()}
    trace["y"] = _numbers(line.scores[drawn])
    name = {"sequential": "practised first", "scratch": "from scratch"}.get(line.group, escape(line.group))
    if line.seed is None:
        dash = "dash" if line.group not in ("sequential", "scratch") else "solid"
        return trace | {"name": name, "line": {"color": colour, "width": 2.5, "dash": dash}}
    style = {"color": colour, "width": 1, "dash": "solid" if line.finished else "dot"}
    return trace | {"name": f"{name}, seed {line.seed}", "line": style, "opacity": 0.55, "hoverinfo": "skip"}


def _shade(area: Area, keep: tuple[int, ...]) -> Plot:
    drawn = thin(area.steps, keep)
    steps, low, high = _numbers(area.steps[drawn], 12), _numbers(area.low[drawn]), _numbers(area.high[drawn])
    shade: Plot = {"type": "scatter", "mode": "lines", "x": [*steps, *reversed(steps)], "y": [*high, *reversed(low)]}
    shade |= {"fill": "toself", "line": {"width": 0}, "hoverinfo": "skip", "name": area.kind}
    colour = AREAS[area.kind]
    if area.kind == "behind":
        return shade | {"fillpattern": {"shape": "/", "fgcolor": colour, "bgcolor": _faded(colour), "size": 6}}
    return shade | {"fillcolor": _faded(colour)}


def _checked(
    traces: Sequence[Mapping[str, Any]],
    across: str,
    up: str,
    shapes: Sequence[Plot] = (),
    legend: bool = False,
) -> Plot:
    """The figure as plotly has checked it; colours of text and lines come from the page."""
    import plotly.graph_objects as go

    layout: Plot = {
        "xaxis": {"title": {"text": across}, "automargin": True, "nticks": 6},
        "yaxis": {"title": {"text": up}, "automargin": True},
        "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
        "shapes": list(shapes),
        "showlegend": legend,
        "legend": {"orientation": "h", "y": -0.25, "yanchor": "top"},
        "hovermode": "closest" if legend else "x unified",
    }
    figure: Plot = go.Figure(list(traces), layout).to_plotly_json()
    figure["layout"].pop("template", None)
    return {"data": list(figure["data"]), "layout": figure["layout"]}


def _numbers(values: Any, digits: int = 5) -> list[float | None]:
    """Rounded to the digits that can be seen, None for nan."""
    return [None if np.isnan(value) else float(f"{value:.{digits}g}") for value in np.asarray(values, np.float64)]


def _faded(colour: str) -> str:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.35)"


def _dash(index: int) -> str:
    return ("solid", "dash", "dot", "dashdot")[index // len(SERIES) % 4]

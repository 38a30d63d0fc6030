"""The learning curves of a study as a paper's figure, with the areas that BWT and FWT measure shaded."""

import math
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from etude.curriculum.metrics.arrays import FloatArray
from etude.curriculum.metrics.compute import finished_seeds
from etude.curriculum.metrics.curves import Curves
from etude.curriculum.metrics.headline import fwt
from etude.curriculum.metrics.registry import Value
from etude.curriculum.metrics.tasks import learnt_scores, lost

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, told apart by colour-blind readers.
SEQUENTIAL, SCRATCH = "#0072B2", "#D55E00"
LOST, AHEAD, BEHIND = "#CC79A7", "#009E73", "#E69F00"

OTHERS: dict[str, tuple[str, str, Any]] = {
    "isolated": ("alone (isolated)", SCRATCH, (0, (4, 1.5))),
    "scratch-total": ("from scratch, all steps", "0.3", (0, (4, 1.5))),
    "joint": ("all at once (joint)", "0.3", (0, (1, 1.2))),
}
"""The regimes of which the seed mean alone is drawn, beside the two of the answer: name, colour, dashes."""

STYLE: dict[Any, Any] = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.labelsize": 9,
    "font.size": 9,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


def draw_learning_curves(curves: Curves, folder: Path) -> tuple[Path, Path]:
    """Draw learning curves into a folder, as PNG and PDF."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    name = "learning_curves" if curves.of == "score" else f"learning_curves-{curves.of}"
    png, pdf = folder / f"{name}.png", folder / f"{name}.pdf"
    with matplotlib.rc_context(STYLE):
        figure = draw(curves)
        figure.savefig(png, dpi=200, metadata={"Software": None})
        figure.savefig(pdf, metadata={"CreationDate": None})
    return png, pdf


def draw(curves: Curves) -> "Figure":
    """A panel a task: primitives over the whole training, the composition over its own, beside the other regimes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    tasks = curves.suite.tasks if "sequential" in curves.regimes else curves.suite.tasks[-1:]
    columns = _columns(len(tasks))
    rows = math.ceil(len(tasks) / columns)
    figure = Figure(figsize=(max(3.1 * columns, 6.2), 2.2 * rows + 0.8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).flatten()
    for panel in panels[len(tasks) :]:
        panel.remove()
    for index, panel in enumerate(panels[: len(tasks)]):
        # A line of the title is left for the subtitle.
        panel.set_title(textwrap.fill(tasks[index], 32) + "\n", loc="left")
        _dress(panel, curves, last_in_column=index + columns >= len(tasks), first_in_row=index % columns == 0)
        if index < len(tasks) - 1:
            _draw_task(panel, curves, index)
        else:
            _draw_composition(panel, curves)
    _add_legend(figure, curves)
    return figure


def _columns(panels: int) -> int:
    """As square as can be, or a column more where that leaves fewer places empty."""
    square = min(math.ceil(math.sqrt(panels)), 4)
    return min((square, min(square + 1, 4)), key=lambda columns: (-panels % columns, columns))


def _draw_task(panel: "Axes", curves: Curves, index: int) -> None:
    ends = np.array((0, *curves.suite.ends))
    begin, end = ends[index : index + 2]
    panel.axvspan(begin, end, color="0.92", lw=0, zorder=0)
    for boundary in ends[1:-1]:
        panel.axvline(boundary, color="0.6", lw=0.7, ls=(0, (2, 2)), zorder=1)
    panel.set_xlim(0, ends[-1])
    _draw_others(panel, curves, index, {f"isolated-{curves.suite.tasks[index]}": begin, "joint": 0})
    _draw_seeds(panel, curves, "sequential", index, SEQUENTIAL)

    seeds = finished_seeds(curves, ("sequential",))
    if not seeds:
        return _add_subtitle(panel, curves, seeds, "no seed finished")
    view = curves.view(seeds)
    steps, mean = view.steps("sequential"), view.scores("sequential")[index]
    _draw_mean(panel, steps, mean, SEQUENTIAL)
    share, learnt = lost(view)[index], learnt_scores(view)[index]
    if np.isnan(share):
        return _add_subtitle(panel, curves, seeds, "not learnt")
    after = steps >= end
    panel.plot([end, ends[-1]], [learnt, learnt], color=LOST, lw=1, ls=":", zorder=2)
    bottom = np.minimum(learnt, np.maximum(mean[after], 0))
    panel.fill_between(steps[after], bottom, learnt, color=LOST, alpha=0.35, lw=0, zorder=2)
    _add_subtitle(panel, curves, seeds, f"$D_{{{index + 1}}}$ = {share:z.1f}")


def _draw_composition(panel: "Axes", curves: Curves) -> None:
    begin, end = (0, *curves.suite.ends)[-2:]
    panel.set_xlabel("steps of the composition's own training")
    panel.set_xlim(0, end - begin)
    colours = {"sequential": SEQUENTIAL, "scratch": SCRATCH}
    starts = {"sequential": begin, "scratch": 0}
    _draw_others(panel, curves, -1, {"scratch-total": -begin, "joint": -begin})
    common = finished_seeds(curves, ("sequential", "scratch"))
    means: dict[str, tuple[Any, FloatArray]] = {}
    for regime in (regime for regime in colours if regime in curves.regimes):
        _draw_seeds(panel, curves, regime, -1, colours[regime], start=starts[regime])
        seeds = common or finished_seeds(curves, (regime,))
        if seeds:
            view = curves.view(seeds)
            own = view.steps(regime) >= starts[regime]
            means[regime] = view.steps(regime)[own] - starts[regime], view.scores(regime)[-1, own]
            _draw_mean(panel, *means[regime], colours[regime])

    lead = fwt(curves.view(common)) if common else None
    if not isinstance(lead, Value):
        return _add_subtitle(panel, curves, common, "composition, no FWT")
    (steps, practised), (_, fresh) = means["sequential"], means["scratch"]
    shade: dict[str, Any] = {"interpolate": True, "lw": 0, "alpha": 0.35, "zorder": 2}
    panel.fill_between(steps, fresh, practised, where=practised >= fresh, color=AHEAD, **shade)
    panel.fill_between(steps, fresh, practised, where=practised < fresh, color=BEHIND, hatch="////", **shade)
    _add_subtitle(panel, curves, common, f"composition, FWT = {lead.value:+z.1f}")


def _draw_others(panel: "Axes", curves: Curves, index: int, shifts: Mapping[str, int]) -> None:
    """The seed means of further groups of runs, each moved along the panel's axis."""
    for group, shift in shifts.items():
        if group in curves.regimes and curves.regimes[group].finished:
            view = curves.view(curves.regimes[group].finished)
            steps, mean = view.steps(group) + shift, view.scores(group)[index]
            known = ~np.isnan(mean) & (steps >= 0)
            _, colour, dashes = OTHERS[group.partition("-")[0] if group.startswith("isolated") else group]
            panel.plot(steps[known], mean[known], color=colour, lw=1.3, ls=dashes, zorder=5)


def _draw_seeds(panel: "Axes", curves: Curves, regime: str, index: int, colour: str, start: int = 0) -> None:
    """Each seed's curve, thin; that of an unfinished run as far as it goes, dotted."""
    records = curves.regimes[regime]
    own = records.steps >= start
    for seed in records.seeds:
        scores = curves.view((seed,)).scores(regime)[index]
        known = own & ~np.isnan(scores)
        style = ":" if seed in records.unfinished else "-"
        panel.plot(records.steps[known] - start, scores[known], color=colour, lw=0.7, alpha=0.45, ls=style, zorder=3)


def _draw_mean(panel: "Axes", steps: Any, mean: FloatArray, colour: str) -> None:
    known = ~np.isnan(mean)
    panel.plot(steps[known], mean[known], color=colour, lw=2, zorder=4, solid_capstyle="round")


def _dress(panel: "Axes", curves: Curves, *, last_in_column: bool, first_in_row: bool) -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    panel.xaxis.set_major_formatter(EngFormatter(sep=""))
    panel.xaxis.set_major_locator(MaxNLocator(5))
    for level in (0, 100):
        panel.axhline(level, color="0.75", lw=0.6, zorder=1)
    if last_in_column:
        panel.set_xlabel("environment steps")
    if first_in_row:
        panel.set_ylabel("score" if curves.of == "score" else "success (%)")


def _add_subtitle(panel: "Axes", curves: Curves, seeds: tuple[int, ...], text: str) -> None:
    """A line between title and curves, where it covers none; it counts the seeds where some are missing."""
    planned = len(curves.suite.seeds)
    if len(seeds) < planned:
        text += f" ({len(seeds)} of {planned} seeds)"
    panel.text(0, 1.02, text, transform=panel.transAxes, ha="left", va="bottom")


def _add_legend(figure: "Figure", curves: Curves) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    names = {"sequential": ("practised first", SEQUENTIAL), "scratch": ("from scratch", SCRATCH)}
    entries: list[Line2D | Patch] = []
    for regime, (name, colour) in names.items():
        if regime in curves.regimes:
            entries.append(Line2D([], [], color=colour, lw=2, label=f"{name}, seed mean"))
    for regime, (name, colour, dashes) in OTHERS.items():
        if regime in curves.suite.regimes:
            entries.append(Line2D([], [], color=colour, lw=1.3, ls=dashes, label=name))
    entries.append(Line2D([], [], color="0.4", lw=0.7, label="one seed"))
    if any(curves.regimes[regime].unfinished for regime in names if regime in curves.regimes):
        entries.append(Line2D([], [], color="0.4", lw=0.7, ls=":", label="unfinished seed, not counted"))
    if "sequential" in curves.regimes:
        entries.append(Patch(color="0.92", label="task in training"))
        entries.append(Patch(color=LOST, alpha=0.35, label="lost ($D_i$, mean: BWT)"))
    if all(regime in curves.regimes for regime in names):
        entries.append(Patch(color=AHEAD, alpha=0.35, label="ahead (FWT)"))
        entries.append(Patch(color=BEHIND, alpha=0.35, hatch="////", label="behind (FWT)"))
    figure.legend(handles=entries, loc="outside lower center", ncols=3, handlelength=1.6, columnspacing=1.6)

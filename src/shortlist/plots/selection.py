"""Selections: the best model at every budget, and how often resamples select a predictor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .style import HUES, add_grid, axes_for, check_columns, label_rows, new_figure, whiskers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_LINE = 0.2  # inches per predictor
_SHORTEST, _LONGEST = 0.03, 0.15  # how long the last step is drawn, relative to the others


def plot_staircase(
    frame: pd.DataFrame, *, xlabel: str = "budget", highest: float = np.inf
) -> Figure:
    """Draw the objective at every limit, and below it which predictors are bought.

    Parameters
    ----------
    frame : DataFrame
        One row per step, the lowest limit first: `limit`, `objective`, and `predictors`, the names
        of those bought.
    xlabel : str
        The name of the limit.
    highest : float
        Up to where the last step is known to hold.

    Returns
    -------
    Figure
        Two axes; the predictors are in the order in which they are first bought.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_staircase
    >>> steps = {"limit": [0, 3], "objective": [9.0, 7.5], "predictors": [[], ["age"]]}
    >>> [ax.get_ylabel() for ax in plot_staircase(pd.DataFrame(steps)).axes]
    ['objective', '']
    """
    check_columns(frame, ("limit", "objective", "predictors"))
    bought = list(dict.fromkeys(name for names in frame["predictors"] for name in names))
    bars = _LINE * max(1, len(bought)) + 0.1
    figure = new_figure(7.0, 3.2 + bars)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[2.4, bars])
    edges = _edges(frame["limit"].tolist(), highest)
    top.stairs(frame["objective"], edges, baseline=None, color=HUES[0], linewidth=1.8)
    top.plot(edges[:-1], frame["objective"], "o", color=HUES[0], markersize=3.5)
    top.set_ylabel("objective")
    top.set_title(f"Best model for every {xlabel}", loc="left", fontsize=10)
    widths = np.diff(edges)
    for row, name in enumerate(bought):
        having = [name in names for names in frame["predictors"]]
        bottom.barh(
            row,
            widths[having],
            left=edges[:-1][having],
            height=0.7,
            color=HUES[0],
            edgecolor=HUES[0],  # so that bars that touch have no seam
            linewidth=0.5,
        )
    label_rows(bottom, bought, fontsize=8)
    bottom.set_xlabel(xlabel)
    for ax in (top, bottom):
        ax.spines[["top", "right"]].set_visible(False)
        add_grid(ax)
    return figure


def _edges(limits: list[float], highest: float) -> NDArray[np.float64]:
    """Return where each step starts, and where the last one ends."""
    unit = limits[-1] - limits[0] or 1.0
    length = np.clip(highest - limits[-1], _SHORTEST * unit, _LONGEST * unit)
    return np.array([*limits, limits[-1] + length])


def plot_inclusion(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how often each predictor is selected.

    Parameters
    ----------
    frame : DataFrame
        Columns `predictor` (or an index of that name, as `inclusion_frequencies` gives it) and
        `frequency`; `lower` and `upper` for intervals.
    ax : Axes, optional
        Where to draw; by default a new figure, as tall as the number of bars asks for.

    Returns
    -------
    Axes
        The first predictor is on top.

    Examples
    --------
    >>> from shortlist.evaluation import inclusion_frequencies
    >>> from shortlist.plots import plot_inclusion
    >>> ax = plot_inclusion(inclusion_frequencies([[1, 0], [1, 1], [1, 0], [1, 0]]))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x0', 'x1']
    """
    if frame.index.name == "predictor":
        frame = frame.reset_index()
    check_columns(frame, ("predictor", "frequency"))
    ax = axes_for(ax, 6.0, 0.9 + 0.24 * len(frame))
    ax.barh(
        np.arange(len(frame)),
        frame["frequency"],
        height=0.8,
        xerr=whiskers(frame, "frequency"),
        color=HUES[0],
        edgecolor="white",
        linewidth=0.5,
        error_kw={"elinewidth": 1, "capsize": 1.5},
    )
    label_rows(ax, list(frame["predictor"]))
    ax.set(xlabel="share of resamples that select it", xlim=(0, 1.02))
    return ax

"""The staircase: the objective at every budget, and the predictors of each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .style import HUES, add_grid, check_columns, label_rows, new_figure

if TYPE_CHECKING:
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
        What the limit is.
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

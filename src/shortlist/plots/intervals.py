"""Estimates of performance with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .style import (
    HUES,
    MARKERS,
    add_grid,
    add_legend,
    axes_for,
    check_columns,
    label_rows,
    values_of,
    with_value,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SPREAD = 0.6  # how much of a line's height its methods share


def plot_intervals(frame: pd.DataFrame, *, xlabel: str = "AUC", ax: Axes | None = None) -> Axes:
    """Draw estimates as points and their intervals as lines, one below the other.

    Parameters
    ----------
    frame : DataFrame
        Columns `label`, `estimate`, `lower` and `upper`; `method`, if there are several per label.
    xlabel : str
        What is estimated.
    ax : Axes, optional
        Where to draw; by default a new figure, as tall as the number of lines asks for.

    Returns
    -------
    Axes
        The first label is on top. An estimate outside its interval is drawn outside it.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_intervals
    >>> line = {"label": "EPV 1.35", "estimate": 0.8, "lower": 0.79, "upper": 0.98}
    >>> plot_intervals(pd.DataFrame([line])).get_xlabel()
    'AUC'
    """
    check_columns(frame, ("label", "estimate", "lower", "upper"))
    labels = values_of(frame, "label")
    methods = values_of(frame, "method")
    position = {label: i for i, label in enumerate(labels)}
    ax = axes_for(ax, 6.0, 0.9 + max(0.3, 0.18 * len(methods)) * len(labels))
    for i, method in enumerate(methods):
        part = with_value(frame, "method", method)
        offset = _SPREAD * ((i + 0.5) / len(methods) - 0.5)
        heights = np.array([position[label] for label in part["label"]]) + offset
        colour = HUES[i % len(HUES)]
        ax.hlines(heights, part["lower"], part["upper"], color=colour, linewidth=1.8)
        ax.plot(
            part["estimate"],
            heights,
            linestyle="none",
            marker=MARKERS[i % len(MARKERS)],
            markersize=5,
            color=colour,
            label=method,
        )
    label_rows(ax, labels)
    ax.set_xlabel(xlabel)
    add_grid(ax)
    if methods != [None]:
        add_legend(ax, "beside")
    return ax

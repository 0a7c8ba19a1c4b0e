"""The spread of values, with a reference value in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .style import GREY, HUES, add_grid, add_legend, axes_for, check_columns, label_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ENDS = ("lower", "lower_quartile", "median", "upper_quartile", "upper")


def plot_spread(
    frame: pd.DataFrame,
    *,
    xlabel: str = "value",
    reference: str = "reference",
    ax: Axes | None = None,
) -> Axes:
    """Draw the spread of a value as a line with a box, and a reference value on it.

    Parameters
    ----------
    frame : DataFrame
        Columns `label`, `lower`, `lower_quartile`, `median`, `upper_quartile`, `upper` and
        `reference`; `reference_low` and `reference_high` for references that are ranges, whose
        `reference` may be NaN.
    xlabel : str
        What the values are.
    reference : str
        What the legend calls the reference values.
    ax : Axes, optional
        Where to draw; by default a new figure, as tall as the number of lines asks for.

    Returns
    -------
    Axes
        The first label is on top.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_spread
    >>> line = {"label": "AUC", "lower": 0.7, "lower_quartile": 0.75, "median": 0.8}
    >>> line |= {"upper_quartile": 0.85, "upper": 0.9, "reference": 0.82}
    >>> plot_spread(pd.DataFrame([line]), xlabel="AUC").get_xlabel()
    'AUC'
    """
    check_columns(frame, ("label", *_ENDS, "reference"))
    ax = axes_for(ax, 7.0, 0.9 + 0.24 * len(frame))
    heights = np.arange(len(frame))
    ax.hlines(heights, frame["lower"], frame["upper"], color=GREY, label="central 95 %")
    ax.barh(
        heights,
        frame["upper_quartile"] - frame["lower_quartile"],
        left=frame["lower_quartile"],
        height=0.5,
        color="#C8DCEB",
        edgecolor=HUES[0],
        linewidth=0.8,
        label="middle half",
    )
    ax.plot(frame["median"], heights, "|", color=HUES[0], markersize=9, label="median")
    if "reference_low" in frame and "reference_high" in frame:
        low, high = frame["reference_low"], frame["reference_high"]
        ax.hlines(heights, low, high, color=HUES[5], linewidth=3)
    ax.plot(
        frame["reference"],
        heights,
        "D",
        color=HUES[5],
        markersize=4.5,
        label=reference,
        clip_on=False,
    )
    label_rows(ax, list(frame["label"]))
    ax.set_xlabel(xlabel)
    add_grid(ax)
    add_legend(ax, "above", ncols=4)
    return ax

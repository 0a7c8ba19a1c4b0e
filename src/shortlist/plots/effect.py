"""Odds ratios along a number that is modelled by a spline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from .style import GREY, HUES, axes_for, check_columns, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_effect(frame: pd.DataFrame, *, xlabel: str = "value", ax: Axes | None = None) -> Axes:
    """Draw odds ratios, on a logarithmic axis, against the values of a predictor.

    Parameters
    ----------
    frame : DataFrame
        Columns `value` and `odds_ratio`.
    xlabel : str
        The predictor.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        With a line at an odds ratio of 1.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_effect
    >>> plot_effect(pd.DataFrame({"value": [40, 60], "odds_ratio": [1, 2.5]})).get_ylabel()
    'odds ratio'
    """
    check_columns(frame, ("value", "odds_ratio"))
    require_matplotlib()
    from matplotlib.ticker import LogLocator, NullFormatter

    ax = axes_for(ax, 4.0, 2.6)
    ax.axhline(1.0, color=GREY, linewidth=1, linestyle="--")
    ax.plot(frame["value"], frame["odds_ratio"], color=HUES[0], linewidth=1.8)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set(xlabel=xlabel, ylabel="odds ratio")
    return ax

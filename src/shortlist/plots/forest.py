"""Forest plots: estimates of centres or studies with intervals, and their summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .style import GREY, HUES, add_grid, axes_for, check_columns, label_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_forest(
    frame: pd.DataFrame,
    *,
    summary: pd.DataFrame | None = None,
    ideal: float | None = None,
    xlabel: str = "estimate",
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw a forest plot: the estimate of each centre with its interval.

    Parameters
    ----------
    frame : DataFrame
        Columns `label`, `estimate`, `lower` and `upper`; a row of NaN has its label alone.
    summary : DataFrame, optional
        The same columns, for intervals below a line: a mean and a prediction interval. A row
        without `estimate` is drawn as a bar without a mark, which ends in an arrow where it leaves
        the axis: that is as long as the other intervals ask for.
    ideal : float, optional
        Where to draw a dashed line.
    xlabel : str
        What is estimated.
    log : bool
        Whether the axis is logarithmic, as suits ratios.
    ax : Axes, optional
        Where to draw; by default a new figure, as tall as the number of rows asks for.

    Returns
    -------
    Axes
        The first centre is on top.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_forest
    >>> centres = {"label": ["A", "B"], "estimate": [0.7, 0.8], "lower": [0.6, 0.7]}
    >>> ax = plot_forest(pd.DataFrame(centres | {"upper": [0.8, 0.9]}), xlabel="AUC")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A', 'B']
    """
    needed = ("label", "estimate", "lower", "upper")
    check_columns(frame, needed)
    parts = [frame]
    if summary is not None:
        check_columns(summary, needed)
        parts.append(summary)
    rows = pd.concat(parts, ignore_index=True)
    ax = axes_for(ax, 5.0, 0.9 + 0.3 * len(rows))
    add_grid(ax)
    if ideal is not None:
        ax.axvline(ideal, color=GREY, linewidth=1, linestyle="--")
    own = rows.index < len(frame)
    for part, colour, mark in ((rows[own], HUES[0], "s"), (rows[~own], HUES[5], "D")):
        known = part.dropna(subset=["estimate"])
        bars = part.dropna(subset=["lower", "upper"])
        ax.hlines(bars.index, bars["lower"], bars["upper"], color=colour, linewidth=1.4)
        ax.plot(known["estimate"], known.index, mark, color=colour, markersize=5)
    if summary is not None:
        ax.axhline(len(frame) - 0.5, color=GREY, linewidth=0.6)
    if log:
        from matplotlib.ticker import LogLocator, NullFormatter

        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter(NullFormatter())
    _end_in_arrows(ax, rows, ideal, log)
    label_rows(ax, rows["label"].tolist())
    ax.set_xlabel(xlabel)
    return ax


def _end_in_arrows(ax: Axes, rows: pd.DataFrame, ideal: float | None, log: bool) -> None:
    """End the axis a little beyond the intervals of estimates, and longer bars with arrows."""
    measured = rows.dropna(subset=["estimate", "lower", "upper"])
    if measured.empty:
        return
    shown = [*measured["lower"], *measured["upper"], *([] if ideal is None else [ideal])]
    ends = min(shown), max(shown)
    low, high = np.log(ends) if log else ends
    margin = 0.2 * (high - low)
    limits = low - margin, high + margin
    first, last = np.exp(limits) if log else limits
    beyond = rows[(rows["lower"] < first) | (rows["upper"] > last)]
    if beyond.empty:
        return
    ax.set_xlim(first, last)
    for edge, mark, is_cut in (
        (first, "<", beyond["lower"] < first),
        (last, ">", beyond["upper"] > last),
    ):
        at = beyond.index[is_cut]
        ax.plot(np.full(len(at), edge), at, mark, color=HUES[5], markersize=5, clip_on=False)

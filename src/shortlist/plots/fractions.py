"""Fractions of informative, redundant and uninformative predictors against events per variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from .style import (
    HUES,
    LINES,
    MARKERS,
    ROLE_COLOURS,
    add_legend,
    axes_for,
    check_columns,
    values_of,
    whiskers,
    with_value,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DODGE = 0.1  # how far, relative to the EPV, the methods are moved apart


def plot_fractions(frame: pd.DataFrame, *, bands: bool = False, ax: Axes | None = None) -> Axes:
    """Draw the fraction of each role that is selected, against events per variable.

    Roles have colours of their own; with a single role and several methods, the methods have them,
    and the legend names them alone. Intervals are bars or, for a spread over draws, bands.

    Parameters
    ----------
    frame : DataFrame
        Columns `epv`, `role` and `fraction`; `method`, if there are several, drawn with different
        markers and lines; `lower` and `upper` for intervals.
    bands : bool
        Whether intervals are bands, at the same EPVs for all methods.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        With a legend of roles and methods.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_fractions
    >>> frame = pd.DataFrame({"epv": [1.35, 17.91], "role": "informative", "fraction": [0.6, 0.9]})
    >>> plot_fractions(frame).get_ylabel()
    'fraction selected'
    """
    check_columns(frame, ("epv", "role", "fraction"))
    ax = axes_for(ax, 7.0, 3.8)
    methods = values_of(frame, "method")
    roles = values_of(frame, "role")
    by_method = len(roles) == 1 and len(methods) > 1
    spare = iter(HUES[2:])  # for roles that are not those of the synthetic data
    for role in roles:
        colour_of_role = ROLE_COLOURS.get(role) or next(spare, HUES[-1])
        for i, method in enumerate(methods):
            colour = HUES[i % len(HUES)] if by_method else colour_of_role
            name = role if method is None else method if by_method else f"{role}, {method}"
            part = with_value(with_value(frame, "role", role), "method", method).sort_values("epv")
            if part.empty:
                continue
            if bands:
                ax.fill_between(part["epv"], part["lower"], part["upper"], color=colour, alpha=0.2)
            dodge = 0.0 if bands else _DODGE * (i - (len(methods) - 1) / 2)
            ax.errorbar(
                part["epv"] * (1 + dodge),
                part["fraction"],
                yerr=None if bands else whiskers(part, "fraction"),
                color=colour,
                linestyle=LINES[i % len(LINES)],
                marker=MARKERS[i % len(MARKERS)],
                markerfacecolor=colour if i % 2 == 0 else "white",
                capsize=2,
                elinewidth=1,
                label=name,
            )
    ax.set_xscale("log")
    epvs = sorted(set(frame["epv"]))
    ax.set_xticks(epvs, [f"{epv:.2f}" for epv in epvs])
    ax.minorticks_off()
    ax.set(xlabel="events per variable", ylabel="fraction selected", ylim=(-0.03, 1.03))
    add_legend(ax, "beside")
    return ax

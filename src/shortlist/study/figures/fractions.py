"""Fig. 1: fractions of informative, redundant and uninformative features against the EPV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from ...plots import plot_fractions
from ...plots.style import new_figure
from ..plan import BEYOND, METHODS
from ..results import ROLES, STABILISED
from ..saved import METHOD_NAMES, mean_over_runs, rows_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_fractions(summary: pd.DataFrame, study: str) -> Figure | None:
    """Draw the paper's methods, means over runs: a panel for each level of label noise."""
    frame = _fractions(summary, study, METHODS)
    if frame.empty:
        return None
    noises = sorted(frame["label_noise"].unique())
    figure = new_figure(7.2, 2.9)
    panels = figure.subplots(1, len(noises), sharey=True, squeeze=False)[0]
    for ax, noise in zip(panels, noises, strict=True):
        plot_fractions(frame[frame["label_noise"] == noise], ax=ax)
        ax.set_title(f"label noise {noise:.0%}", loc="left", fontsize=9)
        if ax is not panels[-1]:
            ax.get_legend().remove()
        if ax is not panels[0]:
            ax.set_ylabel("")
    return figure


def draw_fractions_beyond(summary: pd.DataFrame, study: str) -> Figure | None:
    """Draw methods that are not in the paper: a panel for each role and level of label noise."""
    if not summary["method"].isin(BEYOND).any():
        return None
    frame = _fractions(summary, study, ("optimal", *BEYOND, STABILISED))
    if frame.empty:
        return None
    noises = sorted(frame["label_noise"].unique())
    figure = new_figure(7.2, 0.7 + 1.9 * len(noises))
    panels = figure.subplots(len(noises), len(ROLES), sharex=True, squeeze=False)
    for row, noise in zip(panels, noises, strict=True):
        for ax, role in zip(row, ROLES, strict=True):
            part = frame[(frame["label_noise"] == noise) & (frame["role"] == role)]
            plot_fractions(part, ax=ax)
            ax.set_title(f"{role}, label noise {noise:.0%}", loc="left", fontsize=8)
            ax.set_ylim(-0.03 * part["fraction"].max(), 1.1 * max(part["fraction"].max(), 0.05))
            handles, names = ax.get_legend_handles_labels()
            ax.get_legend().remove()
            if ax is not row[0]:
                ax.set_ylabel("")
            if ax not in panels[-1]:
                ax.set_xlabel("")
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), frameon=False)
    return figure


def _fractions(summary: pd.DataFrame, study: str, methods: Sequence[str]) -> pd.DataFrame:
    rows = rows_of(summary)
    means = mean_over_runs(rows[(rows["study"] == study) & rows["method"].isin(methods)])
    keys = ["label_noise", "epv", "method"]
    frame = means.reset_index().melt(keys, list(ROLES), var_name="role", value_name="fraction")
    order = {name: i for i, name in enumerate((*ROLES, *methods))}
    frame = frame.sort_values(["role", "method"], key=lambda column: column.map(order))
    return frame.assign(method=frame["method"].map(METHOD_NAMES))

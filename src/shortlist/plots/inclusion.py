"""Inclusion frequencies of predictors, as bars with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .style import (
    GREY,
    HATCHES,
    add_legend,
    axes_for,
    check_columns,
    label_rows,
    predictor_colours,
    values_of,
    whiskers,
    with_value,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT = 0.8  # of all bars of a predictor together


def plot_inclusion(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how often each predictor is selected.

    Parameters
    ----------
    frame : DataFrame
        Columns `predictor` (or an index of that name, as `inclusion_frequencies` gives it) and
        `frequency`; `lower` and `upper` for intervals; `method` for bars side by side; `role`,
        which gives every informative predictor a hue of its own and turns the others grey.
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
    predictors = values_of(frame, "predictor")
    methods = values_of(frame, "method")
    colours = predictor_colours(frame)
    position = {predictor: i for i, predictor in enumerate(predictors)}
    thickness = _HEIGHT / len(methods)
    ax = axes_for(ax, 6.0, 0.9 + max(0.24, 0.17 * len(methods)) * len(predictors))
    for i, method in enumerate(methods):
        part = with_value(frame, "method", method)
        ax.barh(
            np.array([position[p] for p in part["predictor"]])
            + thickness * (i - (len(methods) - 1) / 2),
            part["frequency"],
            height=thickness,
            xerr=whiskers(part, "frequency"),
            color=[colours[p] for p in part["predictor"]],
            hatch=HATCHES[i % len(HATCHES)],
            edgecolor="white",
            linewidth=0.5,
            error_kw={"elinewidth": 1, "capsize": 1.5},
        )
    label_rows(ax, predictors)
    ax.set(xlabel="share of resamples that select it", xlim=(0, 1.02))
    if methods != [None]:
        from matplotlib.patches import Patch

        patches = [
            Patch(facecolor=GREY, edgecolor="white", hatch=HATCHES[i % len(HATCHES)], label=method)
            for i, method in enumerate(methods)
        ]
        add_legend(ax, "above", ncols=3, handles=patches)
    return ax

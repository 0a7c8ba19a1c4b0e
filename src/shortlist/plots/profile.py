"""How often each predictor is selected, as upright bars: a profile of many predictors at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .style import axes_for, check_columns, plain, predictor_colours, whiskers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_profile(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how often each predictor is selected, the predictors side by side.

    Parameters
    ----------
    frame : DataFrame
        Columns `predictor` and `frequency`; `lower` and `upper` for intervals; `role`, which gives
        every informative predictor a hue of its own, hatches the redundant and turns both they and
        the others grey; `label`, what stands below a bar, by default the predictor.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        The first predictor is on the left.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_profile
    >>> ax = plot_profile(pd.DataFrame({"predictor": ["age", "lab"], "frequency": [0.9, 0.2]}))
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['age', 'lab']
    """
    check_columns(frame, ("predictor", "frequency"))
    ax = axes_for(ax, 6.0, 2.0)
    colours = predictor_colours(frame)
    positions = np.arange(len(frame))
    bars = ax.bar(
        positions,
        frame["frequency"],
        width=0.8,
        yerr=whiskers(frame, "frequency"),
        color=[colours[name] for name in frame["predictor"]],
        edgecolor="white",
        linewidth=0.3,
        error_kw={"elinewidth": 0.8},
    )
    if "role" in frame:
        for bar, role in zip(bars, frame["role"], strict=True):
            bar.set_hatch("////" if role == "redundant" else "")
    labels = frame["label"] if "label" in frame else frame["predictor"]
    shown = [(at, label) for at, label in zip(positions, labels, strict=True) if label != ""]
    ax.set_xticks([at for at, _ in shown], plain([label for _, label in shown]))
    ax.set(ylabel="frequency", xlim=(-0.7, len(frame) - 0.3), ylim=(0, 1.02))
    return ax

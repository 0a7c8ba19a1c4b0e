"""How often each of many predictors is selected by two methods: upright bars, mirrored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..errors import InvalidProblemError
from .style import (
    axes_for,
    check_columns,
    plain,
    predictor_colours,
    values_of,
    whiskers,
    with_value,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_profile(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how often each predictor is selected, the predictors side by side.

    Parameters
    ----------
    frame : DataFrame
        Columns `predictor` and `frequency`; `lower` and `upper` for intervals; `method`, of two
        at most, the first of which is drawn upwards and the second downwards; `role`, which gives
        every informative predictor a hue of its own, turns the others grey and hatches the
        redundant ones; `label`, what stands below a bar, by default the predictor.
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
    methods = values_of(frame, "method")
    if len(methods) > 2:
        raise InvalidProblemError(f"frame: two methods can be mirrored, not {len(methods)}.")
    ax = axes_for(ax, 6.0, 2.0)
    colours = predictor_colours(frame)
    predictors = frame.drop_duplicates("predictor")
    position = {name: i for i, name in enumerate(predictors["predictor"])}
    for method, sign in zip(methods, (1, -1), strict=False):
        part = with_value(frame, "method", method)
        lengths = whiskers(part, "frequency")
        bars = ax.bar(
            [position[name] for name in part["predictor"]],
            sign * part["frequency"],
            width=0.8,
            yerr=lengths if sign == 1 or lengths is None else lengths[::-1],
            color=[colours[name] for name in part["predictor"]],
            edgecolor="white",
            linewidth=0.3,
            error_kw={"elinewidth": 0.8},
        )
        for bar, role in zip(bars, part.get("role", [""] * len(part)), strict=True):
            bar.set_hatch("////" if role == "redundant" else "")
    labels = predictors["label"] if "label" in predictors else predictors["predictor"]
    shown = [(at, label) for at, label in enumerate(labels) if label != ""]
    ax.set_xticks([at for at, _ in shown], plain([label for _, label in shown]))
    ticks = np.linspace(-1, 1, 5) if len(methods) == 2 else np.linspace(0, 1, 3)
    ax.set_yticks(ticks, [f"{abs(tick):g}" for tick in ticks])
    ax.set(xlim=(-0.7, len(predictors) - 0.3), ylim=(1.03 * ticks[0], 1.03), ylabel="frequency")
    if len(methods) == 2:
        ax.axhline(0, color="black", linewidth=0.6)
        ax.spines["bottom"].set_visible(False)
        for method, height, side in zip(methods, (1, 0), ("top", "bottom"), strict=True):
            ax.text(1, height, plain([method])[0], transform=ax.transAxes, ha="right", va=side)
    return ax

"""The figure of a staircase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .path import Path

_BLUE = "#0072B2"  # Okabe and Ito's palette: safe for colour-blind readers
_LABELS = {"budget": "budget", "max_features": "number of predictors"}


def draw_path(path: Path) -> Figure:
    """Draw the objective against the limit, and below it which predictors are bought."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError("Figures need matplotlib: install shortlist[plots].") from None
    ever = sorted({g for step in path.steps for g in step.solution.support})
    height = 2.6 + 0.22 * max(1, len(ever))
    figure = Figure(figsize=(7.0, height), layout="constrained")
    top, bottom = figure.subplots(
        2, 1, sharex=True, height_ratios=[2.2, 0.22 * max(1, len(ever)) + 0.2]
    )
    limits = [step.limit for step in path.steps]
    edges = np.array([*limits, max(path.highest_limit, limits[-1])])
    if edges[-1] == edges[-2]:
        edges[-1] += max(0.02 * (edges[-2] - edges[0]), 1e-9)
    objective = [step.solution.objective for step in path.steps]
    top.stairs(objective, edges, baseline=None, color=_BLUE, linewidth=1.8)
    top.plot(limits, objective, "o", color=_BLUE, markersize=3.5)
    top.set_ylabel("objective")
    top.set_title("Best model for every " + _LABELS[path.limit_name], loc="left", fontsize=10)
    for row, g in enumerate(ever):
        for i, step in enumerate(path.steps):
            if g in step.solution.support:
                bottom.barh(row, edges[i + 1] - edges[i], left=edges[i], height=0.7, color=_BLUE)
    bottom.set_yticks(range(len(ever)), [path.names[g] for g in ever], fontsize=8)
    bottom.set_ylim(len(ever) - 0.4, -0.6)
    bottom.set_xlabel(_LABELS[path.limit_name])
    for ax in (top, bottom):
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="x", color="0.9", linewidth=0.6)
        ax.set_axisbelow(True)
    return figure

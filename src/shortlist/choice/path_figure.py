"""The figure of a staircase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..plots.style import HUES, axes_for, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from .path import Path

_LABELS = {"budget": "budget", "max_features": "number of predictors"}
_LINE = 0.2  # inches per predictor
_SHORTEST, _LONGEST = 0.03, 0.15  # how long the last step is drawn, relative to the others


def draw_path(path: Path) -> Figure:
    """Draw the objective against the limit, and below it which predictors are bought."""
    bought = _order_of_entry(path)
    bars = _LINE * max(1, len(bought)) + 0.1
    figure = new_figure(7.0, 3.2 + bars)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[2.4, bars])
    edges = _edges(path)
    _draw_objective(path, edges, axes_for(top, 0, 0))
    _draw_predictors(path, edges, bought, axes_for(bottom, 0, 0))
    for ax in (top, bottom):
        ax.grid(axis="x", color="#DDDDDD", linewidth=0.6)
        ax.set_axisbelow(True)
    return figure


def _order_of_entry(path: Path) -> list[int]:
    """Return the predictors that some step buys, in the order in which they are first bought."""
    return list(dict.fromkeys(g for step in path for g in step.gained))


def _edges(path: Path) -> NDArray[np.float64]:
    """Return where each step starts, and where the last one ends."""
    limits = [step.limit for step in path]
    unit = limits[-1] - limits[0] or 1.0
    length = np.clip(path.highest_limit - limits[-1], _SHORTEST * unit, _LONGEST * unit)
    return np.array([*limits, limits[-1] + length])


def _draw_objective(path: Path, edges: NDArray[np.float64], ax: Axes) -> None:
    objective = [step.solution.objective for step in path]
    ax.stairs(objective, edges, baseline=None, color=HUES[0], linewidth=1.8)
    ax.plot(edges[:-1], objective, "o", color=HUES[0], markersize=3.5)
    ax.set_ylabel("objective")
    ax.set_title(f"Best model for every {_LABELS[path.limit_name]}", loc="left", fontsize=10)


def _draw_predictors(path: Path, edges: NDArray[np.float64], bought: list[int], ax: Axes) -> None:
    widths = np.diff(edges)
    for row, g in enumerate(bought):
        having = [i for i, step in enumerate(path) if g in step.solution.support]
        ax.barh(row, widths[having], left=edges[having], height=0.7, color=HUES[0])
    ax.set_yticks(range(len(bought)), plain([path.names[g] for g in bought]), fontsize=8)
    ax.set_ylim(max(1, len(bought)) - 0.5, -0.5)
    ax.set_xlabel(_LABELS[path.limit_name])

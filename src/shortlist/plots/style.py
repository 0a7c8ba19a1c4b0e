"""Axes, colours and marks of all figures, and the check of their tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..errors import InvalidProblemError, import_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "GREY", "HUES", "LINES", "MARKERS", "add_grid", "axes_for", "check_columns", "label_rows",
    "new_figure", "plain", "whiskers",
]  # fmt: skip

# Okabe and Ito's palette without its yellow, which is too light for lines.
HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
GREY = "#8C8C8C"
MARKERS = ("o", "s", "^", "D", "v", "P")
LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or the axes of a new figure of some inches."""
    if ax is None:
        ax = new_figure(width, height).subplots()
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of some inches."""
    import_extra("matplotlib", "plots")
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout="constrained")


def label_rows(ax: Axes, labels: Sequence[Any], **text: Any) -> None:
    """Name the rows of a figure, the first one on top."""
    ax.set_yticks(range(len(labels)), plain(labels), **text)
    ax.set_ylim(max(1, len(labels)) - 0.5, -0.5)


def add_grid(ax: Axes) -> None:
    """Draw light vertical lines behind everything else."""
    ax.grid(axis="x", color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)


def check_columns(frame: pd.DataFrame, needed: Sequence[str]) -> None:
    """Refuse a table that lacks a column, or has nothing to draw."""
    missing = [name for name in needed if name not in frame]
    if missing:
        raise InvalidProblemError(
            f"frame: has no column {missing[0]!r}; it needs {', '.join(map(repr, needed))}."
        )
    if frame.empty:
        raise InvalidProblemError("frame: has no rows; there is nothing to draw.")


def plain(names: Sequence[Any]) -> list[str]:
    """Return texts in which no $ starts a formula."""
    return [str(name).replace("$", r"\$") for name in names]


def whiskers(frame: pd.DataFrame, column: str) -> list[Any] | None:
    """Return the lengths of error bars from `lower` to `upper`; None without these columns.

    A mean can be outside a percentile interval: that side then has no bar.
    """
    if "lower" not in frame or "upper" not in frame:
        return None
    value = frame[column]
    return [(value - frame["lower"]).clip(lower=0), (frame["upper"] - value).clip(lower=0)]

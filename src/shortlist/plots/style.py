"""Axes, colours and marks of all figures, and the check of their tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from ..errors import InvalidProblemError, import_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "GREY", "HATCHES", "HUES", "LINES", "MARKERS", "add_grid", "add_legend", "axes_for",
    "check_columns", "label_rows", "new_figure", "plain", "values_of", "whiskers", "with_value",
]  # fmt: skip

# Okabe and Ito's palette without its yellow, which is too light for lines.
HUES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
GREY = "#8C8C8C"
ROLE_COLOURS = {"informative": HUES[0], "redundant": HUES[1], "uninformative": GREY}
MARKERS = ("o", "s", "^", "D", "v", "P")
LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
_OUTSIDE: dict[str, dict[str, Any]] = {
    "above": {"loc": "lower left", "bbox_to_anchor": (0, 1)},
    "beside": {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)},
}
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++")


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the given axes, or those of a new figure of some inches."""
    if ax is None:
        ax = new_figure(width, height).subplots()
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def require_matplotlib() -> None:
    """Refuse to draw without matplotlib."""
    import_extra("matplotlib", "plots")


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of some inches."""
    require_matplotlib()
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


def add_legend(ax: Axes, place: Literal["above", "beside"], **options: Any) -> None:
    """Draw a legend outside the axes."""
    ax.legend(frameon=False, fontsize="small", **_OUTSIDE[place], **options)


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


def values_of(frame: pd.DataFrame, column: str) -> list[Any]:
    """Return the different values of a column in the order of appearance; [None] without it."""
    return list(dict.fromkeys(frame[column])) if column in frame else [None]


def with_value(frame: pd.DataFrame, column: str, value: Any) -> pd.DataFrame:
    """Return the rows with a value in a column; all rows for None."""
    return frame if value is None else frame[frame[column] == value]


def predictor_colours(frame: pd.DataFrame) -> dict[str, str]:
    """Return a hue for every informative predictor and grey for the others; without roles, one."""
    if "role" not in frame:
        return dict.fromkeys(frame["predictor"], HUES[0])
    colours = dict.fromkeys(frame["predictor"], GREY)
    informative = values_of(frame[frame["role"] == "informative"], "predictor")
    return colours | {name: HUES[i % len(HUES)] for i, name in enumerate(informative)}


def whiskers(frame: pd.DataFrame, column: str) -> list[Any] | None:
    """Return the lengths of error bars from `lower` to `upper`; None without these columns.

    A mean can be outside a percentile interval: that side then has no bar.
    """
    if "lower" not in frame or "upper" not in frame:
        return None
    value = frame[column]
    return [(value - frame["lower"]).clip(lower=0), (frame["upper"] - value).clip(lower=0)]

"""The figures of the page, from the rows of an experiment: SVG, equal bytes for equal rows."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from shortlist.plots.style import GREY, HUES, LINES, MARKERS, axes_for, new_figure

from .peers.comparison import NATIVE, TOLERANCE
from .peers.registry import EXACT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (*HUES, GREY)
_LARGEST_FACTOR = 1e4


def profile(frame: pd.DataFrame) -> Figure:
    """Draw the share of problems that each exact method proves within a factor of the best time.

    A method counts on the problems that it can express; a wrong claim is no proof.
    """
    names = [NATIVE, *EXACT]
    tried = frame[frame["peer"].isin(names) & frame["seconds"].notna()].copy()
    excess = tried["objective"] / tried["optimum"] - 1.0
    tried.loc[(tried["status"] != "optimal") | (excess > TOLERANCE), "seconds"] = np.inf
    keys = ["seed", "rows", "columns", "label_noise", "limit", "ridge"]
    tried["factor"] = tried["seconds"] / tried.groupby(keys)["seconds"].transform("min")
    figure = new_figure(7.0, 3.6)
    ax = axes_for(figure.subplots(), 0, 0)
    for i, name in enumerate(n for n in names if n in set(tried["peer"])):
        factors = np.sort(tried.loc[tried["peer"] == name, "factor"])
        share = np.arange(1, len(factors) + 1) / len(factors)
        is_proven = factors < np.inf
        x = [1.0, *factors[is_proven], _LARGEST_FACTOR]
        y = [0.0, *share[is_proven], share[is_proven].max(initial=0.0)]
        ax.plot(
            x, y, drawstyle="steps-post", color=_COLOURS[i], linestyle=LINES[i % len(LINES)],
            linewidth=1.8, label=f"{name} ({len(factors)})",
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlim(0.9, _LARGEST_FACTOR)
    ax.set_ylim(-0.02, 1.04)
    ax.set_xlabel("time, as a multiple of the fastest method's")
    ax.set_ylabel("share of problems proven")
    _legend(ax, title="method (problems)")
    return figure


def scaling(frame: pd.DataFrame, x_label: str, x_falls: bool = False) -> Figure:
    """Draw seconds against the step of each ladder, hollow marks for time limits."""
    answered = frame[frame["seconds"].notna()]
    peers = list(dict.fromkeys(answered["peer"]))
    ladders = list(dict.fromkeys(answered["ladder"]))
    figure = new_figure(3.6 * len(ladders) + 1.8, 3.4)
    panels = np.atleast_1d(figure.subplots(1, len(ladders), sharey=True))
    for ax, ladder in zip(panels, ladders, strict=True):
        axes_for(ax, 0, 0)
        for i, name in enumerate(peers):
            part = answered[(answered["ladder"] == ladder) & (answered["peer"] == name)]
            _draw_curve(ax, part, name, i)
        ax.set_xscale("log")
        ax.set_yscale("log")
        if x_falls:
            ax.invert_xaxis()
        ax.set_title(ladder, loc="left", fontsize=10)
        ax.set_xlabel(x_label)
    panels[0].set_ylabel("CPU seconds")
    _legend(panels[-1])
    return figure


def growth(frame: pd.DataFrame) -> Figure:
    """Draw seconds and memory against rows, for each way and number of columns."""
    figure = new_figure(9.0, 3.4)
    left, right = figure.subplots(1, 2)
    for ax in (left, right):
        axes_for(ax, 0, 0)
    curves = frame.sort_values("rows").groupby(["columns", "way"], sort=False)
    for i, ((n_columns, way), part) in enumerate(curves):
        for ax, values in ((left, part["seconds"]), (right, part["peak_bytes"] / 1e6)):
            ax.plot(
                part["rows"], values, color=_COLOURS[i], linestyle=LINES[i], marker=MARKERS[i],
                markersize=5, linewidth=1.6, label=f"{way}, {n_columns} columns",
            )  # fmt: skip
    for ax, label in ((left, "CPU seconds"), (right, "memory, MB")):
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("rows")
        ax.set_ylabel(label)
    _legend(right)
    return figure


def _legend(ax: Axes, title: str | None = None) -> None:
    """Put the names to the right of the axes."""
    ax.legend(title=title, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _draw_curve(ax: Axes, part: pd.DataFrame, name: str, i: int) -> None:
    colour = _COLOURS[i]
    ax.plot(
        part["step"], part["seconds"], color=colour, linestyle=LINES[i], linewidth=1.6, label=name,
        marker=MARKERS[i], markersize=5,
    )  # fmt: skip
    at_limit = part[part["status"] == "time_limit"]
    ax.plot(
        at_limit["step"], at_limit["seconds"], linestyle="", marker=MARKERS[i], markersize=5,
        markerfacecolor="white", markeredgecolor=colour,
    )  # fmt: skip


# The figure of an experiment, and its description for readers who do not see it.
FIGURES: dict[str, tuple[Callable[[pd.DataFrame], Figure], str]] = {
    "peers": (profile, "Share of problems proven within a factor of the fastest method's time"),
    "columns": (lambda frame: scaling(frame, "columns"), "CPU seconds against columns"),
    "sampling": (growth, "CPU seconds and memory against rows, with a sample and without"),
    "rows": (lambda frame: scaling(frame, "rows"), "CPU seconds against rows"),
    "ridges": (
        lambda frame: scaling(frame, "ridge, from strong to weak", x_falls=True),
        "CPU seconds against the ridge",
    ),
}


def to_svg(draw: Callable[[pd.DataFrame], Figure], frame: pd.DataFrame) -> str:
    """Return a figure as SVG, without a date and with names that do not change."""
    from matplotlib import pyplot, rc_context

    with rc_context({"svg.hashsalt": "shortlist", "svg.fonttype": "none", "font.size": 10}):
        figure = draw(frame)
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"

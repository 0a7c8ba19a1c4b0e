"""Figures: each function takes a DataFrame, draws it on matplotlib Axes and returns them.

They need the extra `shortlist[plots]`. The palette of Okabe and Ito suits any colour vision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .style import (
    GREY,
    HUES,
    add_grid,
    axes_for,
    check_columns,
    label_rows,
    new_figure,
    whiskers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = [
    "plot_calibration", "plot_decision_curve", "plot_effect", "plot_forest", "plot_inclusion",
    "plot_instability", "plot_roc", "plot_staircase",
]  # fmt: skip

_LINE = 0.2  # inches per predictor
_SHORTEST, _LONGEST = 0.03, 0.15  # how long the last step is drawn, relative to the others


def plot_calibration(
    frame: pd.DataFrame,
    *,
    curve: pd.DataFrame | None = None,
    histogram: pd.DataFrame | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a calibration plot: observed vs predicted event rate, by groups of patients.

    Parameters
    ----------
    frame : DataFrame
        Columns `predicted` and `observed`; `lower` and `upper` for intervals of the latter.
    curve : DataFrame, optional
        The same columns, for a smooth curve with a band.
    histogram : DataFrame, optional
        Columns `from`, `to`, `events` and `others`: how many patients have which predicted
        probability, drawn upwards and downwards below the curve.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        With the diagonal on which a calibrated model lies; it ends where predictions do.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_calibration
    >>> groups = pd.DataFrame({"predicted": [0.1, 0.6], "observed": [0.2, 0.5]})
    >>> plot_calibration(groups).get_ylabel()
    'observed event rate'
    """
    check_columns(frame, ("predicted", "observed"))
    ax = axes_for(ax, 4.4, 4.0)
    drawn = [frame[name] for name in ("predicted", "observed", "upper") if name in frame]
    top = max(float(values.max()) for values in drawn)
    if histogram is not None:
        top = max(top, float(histogram["to"].max()))
    top = _make_square(ax, top)
    if curve is not None and len(curve):
        _shade(ax, curve, "predicted")
        ax.plot(curve["predicted"], curve["observed"], color=HUES[0], linewidth=1.8)
    ax.errorbar(
        frame["predicted"],
        frame["observed"],
        yerr=whiskers(frame, "observed"),
        color=HUES[0],
        marker="o",
        markersize=5,
        linestyle="none" if curve is not None and len(curve) else "-",
        linewidth=1.4,
        elinewidth=1,
        capsize=2,
    )
    ax.set(xlabel="predicted probability", ylabel="observed event rate")
    if histogram is not None:
        _draw_histogram(ax, histogram, top)
    return ax


def _draw_histogram(ax: Axes, histogram: pd.DataFrame, top: float) -> None:
    """Draw patients with the event upwards and the others downwards, below the axis."""
    height = 0.09 * top / max(1, int(histogram[["events", "others"]].to_numpy().max()))
    base = -0.13 * top
    width = histogram["to"] - histogram["from"]
    for column, sign, colour in (("events", 1, HUES[5]), ("others", -1, GREY)):
        heights = sign * height * histogram[column]
        ax.bar(histogram["from"], heights, width, bottom=base, align="edge", color=colour)
    ax.axhline(base, color=GREY, linewidth=0.5)
    ax.set_ylim(base - 0.11 * top, 1.02 * top)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1.02 * top])
    for text, offset in (("event", 0.06), ("no event", -0.06)):
        place = (1.01 * top, base + offset * top)
        ax.annotate(text, place, fontsize="x-small", va="center", annotation_clip=False)


def plot_roc(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw a ROC curve: sensitivity vs 1 - specificity.

    Parameters
    ----------
    frame : DataFrame
        Columns `false_positive_rate` and `true_positive_rate`, one row per corner.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        With the diagonal of an uninformative model.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_roc
    >>> corners = {"false_positive_rate": [0, 0.2, 1], "true_positive_rate": [0, 0.7, 1]}
    >>> plot_roc(pd.DataFrame(corners)).get_ylabel()
    'sensitivity'
    """
    check_columns(frame, ("false_positive_rate", "true_positive_rate"))
    ax = axes_for(ax, 4.4, 4.0)
    _make_square(ax, 1.0)
    ax.plot(frame["false_positive_rate"], frame["true_positive_rate"], color=HUES[0], linewidth=1.8)
    ax.set(xlabel="1 - specificity", ylabel="sensitivity")
    return ax


def plot_decision_curve(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw a decision curve: the net benefit of a model at each threshold probability.

    Parameters
    ----------
    frame : DataFrame
        Columns `threshold`, `model` and `everyone`: the net benefit of treating patients above the
        threshold, and of treating all. Treating none has 0. `lower` and `upper`, if there, are the
        ends of intervals of the model's.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        With a legend. Curves far below 0 are cut off.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_decision_curve
    >>> curve = {"threshold": [0.1, 0.5], "model": [0.4, 0.2], "everyone": [0.35, -0.1]}
    >>> plot_decision_curve(pd.DataFrame(curve)).get_xlabel()
    'threshold probability'
    """
    check_columns(frame, ("threshold", "model", "everyone"))
    ax = axes_for(ax, 6.0, 3.4)
    ax.axhline(0.0, color=GREY, linewidth=1, linestyle=":", label="treat none")
    ax.plot(frame["threshold"], frame["everyone"], color=HUES[5], linestyle="--", label="treat all")
    _shade(ax, frame, "threshold")
    ax.plot(frame["threshold"], frame["model"], color=HUES[0], linewidth=1.8, label="model")
    top = float(frame[["model", "everyone"]].max().max())
    top = top if top > 0 else 0.01
    ax.set(xlabel="threshold probability", ylabel="net benefit", ylim=(-0.25 * top, 1.08 * top))
    ax.legend(frameon=False, fontsize="small", loc="upper right")
    return ax


def plot_instability(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the range of each patient's risk over models of resamples, against the model's.

    Parameters
    ----------
    frame : DataFrame
        Columns `risk`, `lower` and `upper`, one row per patient.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        With the diagonal on which risks that do not vary lie.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_instability
    >>> patients = pd.DataFrame({"risk": [0.1, 0.6], "lower": [0.05, 0.4], "upper": [0.2, 0.7]})
    >>> plot_instability(patients).get_ylabel()
    'risk by models of resamples'
    """
    check_columns(frame, ("risk", "lower", "upper"))
    ax = axes_for(ax, 4.4, 4.0)
    ax.vlines(frame["risk"], frame["lower"], frame["upper"], color=HUES[0], lw=0.8, alpha=0.5)
    _make_square(ax, float(frame[["risk", "upper"]].max().max()))
    ax.set(xlabel="predicted risk", ylabel="risk by models of resamples")
    return ax


def plot_effect(
    frame: pd.DataFrame,
    *,
    xlabel: str = "value",
    histogram: pd.DataFrame | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw odds ratios, on a logarithmic axis, against the values of a predictor.

    Parameters
    ----------
    frame : DataFrame
        Columns `value` and `odds_ratio`; `lower` and `upper`, if there, are the ends of a band.
    xlabel : str
        The predictor.
    histogram : DataFrame, optional
        Columns `from`, `to`, `events` and `others`: how many patients have which value, drawn at
        the bottom, the former in front.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        With a line at an odds ratio of 1.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_effect
    >>> plot_effect(pd.DataFrame({"value": [40, 60], "odds_ratio": [1, 2.5]})).get_ylabel()
    'odds ratio'
    """
    check_columns(frame, ("value", "odds_ratio"))
    ax = axes_for(ax, 4.0, 2.6)
    ax.axhline(1.0, color=GREY, linewidth=1, linestyle="--")
    ax.set_yscale("log")
    _shade(ax, frame, "value")
    ax.plot(frame["value"], frame["odds_ratio"], color=HUES[0], linewidth=1.8)
    if histogram is not None:
        below = ax.twinx()
        below.set_axis_off()
        below.set_ylim(0, 5 * max(1, int((histogram["events"] + histogram["others"]).max())))
        width = histogram["to"] - histogram["from"]
        for heights, colour in (
            (histogram["events"] + histogram["others"], GREY),
            (histogram["events"], HUES[5]),
        ):
            below.bar(histogram["from"], heights, width, align="edge", color=colour, alpha=0.5)
    _mark_ratios(ax.yaxis)
    ax.set(xlabel=xlabel, ylabel="odds ratio")
    return ax


def _mark_ratios(axis: Any, **options: Any) -> None:
    """Mark 1, 2, 5, 10 and so on along a logarithmic axis."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), **options))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _shade(ax: Axes, frame: pd.DataFrame, column: str) -> None:
    """Draw the band from `lower` to `upper`, if the table has one."""
    if "lower" in frame and "upper" in frame:
        ends = (frame["lower"], frame["upper"])
        ax.fill_between(frame[column], *ends, color=HUES[0], alpha=0.15, lw=0)


def _make_square(ax: Axes, largest: float) -> float:
    """Draw a square's diagonal; return its side: 1, or less where all values are small."""
    top = 1.0 if largest > 0.6 else 1.05 * largest
    ax.plot([0, top], [0, top], color=GREY, linewidth=1, linestyle="--")
    ax.set(xlim=(-0.02 * top, 1.02 * top), ylim=(-0.02 * top, 1.02 * top))
    ax.set_aspect("equal")
    return top


def plot_forest(
    frame: pd.DataFrame,
    *,
    summary: pd.DataFrame | None = None,
    ideal: float | None = None,
    xlabel: str = "estimate",
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw a forest plot: the estimate of each centre with its interval.

    Parameters
    ----------
    frame : DataFrame
        Columns `label`, `estimate`, `lower` and `upper`; a row of NaN has its label alone.
    summary : DataFrame, optional
        The same columns, for intervals below a line: a mean and a prediction interval. A row
        without `estimate` is drawn as a bar without a mark, which ends in an arrow where it leaves
        the axis: that is as long as the other intervals ask for.
    ideal : float, optional
        Where to draw a dashed line.
    xlabel : str
        What is estimated.
    log : bool
        Whether the axis is logarithmic, as suits ratios.
    ax : Axes, optional
        Where to draw; by default a new figure, as tall as the number of rows asks for.

    Returns
    -------
    Axes
        The first centre is on top.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_forest
    >>> centres = {"label": ["A", "B"], "estimate": [0.7, 0.8], "lower": [0.6, 0.7]}
    >>> ax = plot_forest(pd.DataFrame(centres | {"upper": [0.8, 0.9]}), xlabel="AUC")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A', 'B']
    """
    needed = ("label", "estimate", "lower", "upper")
    check_columns(frame, needed)
    parts = [frame]
    if summary is not None:
        check_columns(summary, needed)
        parts.append(summary)
    rows = pd.concat(parts, ignore_index=True)
    ax = axes_for(ax, 5.0, 0.9 + 0.3 * len(rows))
    add_grid(ax)
    if ideal is not None:
        ax.axvline(ideal, color=GREY, linewidth=1, linestyle="--")
    own = rows.index < len(frame)
    for part, colour, mark in ((rows[own], HUES[0], "s"), (rows[~own], HUES[5], "D")):
        known = part.dropna(subset=["estimate"])
        bars = part.dropna(subset=["lower", "upper"])
        ax.hlines(bars.index, bars["lower"], bars["upper"], color=colour, linewidth=1.4)
        ax.plot(known["estimate"], known.index, mark, color=colour, markersize=5)
    if summary is not None:
        ax.axhline(len(frame) - 0.5, color=GREY, linewidth=0.6)
    if log:
        ax.set_xscale("log")
        _mark_ratios(ax.xaxis, numticks=12)
    _end_in_arrows(ax, rows, ideal, log)
    label_rows(ax, rows["label"].tolist())
    ax.set_xlabel(xlabel)
    return ax


def _end_in_arrows(ax: Axes, rows: pd.DataFrame, ideal: float | None, log: bool) -> None:
    """End the axis a little beyond the intervals of estimates, and longer bars with arrows."""
    measured = rows.dropna(subset=["estimate", "lower", "upper"])
    if measured.empty:
        return
    shown = [*measured["lower"], *measured["upper"], *([] if ideal is None else [ideal])]
    ends = min(shown), max(shown)
    low, high = np.log(ends) if log else ends
    margin = 0.2 * (high - low)
    limits = low - margin, high + margin
    first, last = np.exp(limits) if log else limits
    beyond = rows[(rows["lower"] < first) | (rows["upper"] > last)]
    if beyond.empty:
        return
    ax.set_xlim(first, last)
    for edge, mark, is_cut in (
        (first, "<", beyond["lower"] < first),
        (last, ">", beyond["upper"] > last),
    ):
        at = beyond.index[is_cut]
        ax.plot(np.full(len(at), edge), at, mark, color=HUES[5], markersize=5, clip_on=False)


def plot_staircase(
    frame: pd.DataFrame, *, xlabel: str = "budget", highest: float = np.inf
) -> Figure:
    """Draw the objective at every limit, and below it which predictors are bought.

    Parameters
    ----------
    frame : DataFrame
        One row per step, the lowest limit first: `limit`, `objective`, and `predictors`, the names
        of those bought.
    xlabel : str
        The name of the limit.
    highest : float
        Up to where the last step is known to hold.

    Returns
    -------
    Figure
        Two axes; the predictors are in the order in which they are first bought.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_staircase
    >>> steps = {"limit": [0, 3], "objective": [9.0, 7.5], "predictors": [[], ["age"]]}
    >>> [ax.get_ylabel() for ax in plot_staircase(pd.DataFrame(steps)).axes]
    ['objective', '']
    """
    check_columns(frame, ("limit", "objective", "predictors"))
    bought = list(dict.fromkeys(name for names in frame["predictors"] for name in names))
    bars = _LINE * max(1, len(bought)) + 0.1
    figure = new_figure(7.0, 3.2 + bars)
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[2.4, bars])
    edges = _edges(frame["limit"].tolist(), highest)
    top.stairs(frame["objective"], edges, baseline=None, color=HUES[0], linewidth=1.8)
    top.plot(edges[:-1], frame["objective"], "o", color=HUES[0], markersize=3.5)
    top.set_ylabel("objective")
    top.set_title(f"Best model for every {xlabel}", loc="left", fontsize=10)
    widths = np.diff(edges)
    for row, name in enumerate(bought):
        having = [name in names for names in frame["predictors"]]
        bottom.barh(
            row,
            widths[having],
            left=edges[:-1][having],
            height=0.7,
            color=HUES[0],
            edgecolor=HUES[0],  # so that bars that touch have no seam
            linewidth=0.5,
        )
    label_rows(bottom, bought, fontsize=8)
    bottom.set_xlabel(xlabel)
    for ax in (top, bottom):
        ax.spines[["top", "right"]].set_visible(False)
        add_grid(ax)
    return figure


def _edges(limits: list[float], highest: float) -> NDArray[np.float64]:
    """Return where each step starts, and where the last one ends."""
    unit = limits[-1] - limits[0] or 1.0
    length = np.clip(highest - limits[-1], _SHORTEST * unit, _LONGEST * unit)
    return np.array([*limits, limits[-1] + length])


def plot_inclusion(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how often each predictor is selected.

    Parameters
    ----------
    frame : DataFrame
        Columns `predictor` (or an index of that name, as `inclusion_frequencies` gives it) and
        `frequency`; `lower` and `upper` for intervals.
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
    ax = axes_for(ax, 6.0, 0.9 + 0.24 * len(frame))
    ax.barh(
        np.arange(len(frame)),
        frame["frequency"],
        height=0.8,
        xerr=whiskers(frame, "frequency"),
        color=HUES[0],
        edgecolor="white",
        linewidth=0.5,
        error_kw={"elinewidth": 1, "capsize": 1.5},
    )
    label_rows(ax, list(frame["predictor"]))
    ax.set(xlabel="share of resamples that select it", xlim=(0, 1.02))
    return ax

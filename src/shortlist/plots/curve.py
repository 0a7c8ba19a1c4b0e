"""Curves of predictions (calibration, ROC, decisions, instability), odds ratios along a spline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from .style import GREY, HUES, axes_for, check_columns, whiskers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    from matplotlib.ticker import LogLocator, NullFormatter

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
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set(xlabel=xlabel, ylabel="odds ratio")
    return ax


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

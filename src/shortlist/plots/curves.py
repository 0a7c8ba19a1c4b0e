"""Curves of predicted probabilities: calibration, ROC, decision curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from .style import GREY, HUES, axes_for, check_columns, whiskers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_calibration(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the observed share of events against the predicted probability, by groups of patients.

    Parameters
    ----------
    frame : DataFrame
        Columns `predicted` and `observed`; `lower` and `upper` for intervals of the latter.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        With the diagonal on which a calibrated model lies.

    Examples
    --------
    >>> import pandas as pd
    >>> from shortlist.plots import plot_calibration
    >>> groups = pd.DataFrame({"predicted": [0.1, 0.6], "observed": [0.2, 0.5]})
    >>> plot_calibration(groups).get_ylabel()
    'observed share of events'
    """
    check_columns(frame, ("predicted", "observed"))
    ax = axes_for(ax, 4.4, 4.0)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
    ax.errorbar(
        frame["predicted"],
        frame["observed"],
        yerr=whiskers(frame, "observed"),
        color=HUES[0],
        marker="o",
        markersize=5,
        linewidth=1.4,
        elinewidth=1,
        capsize=2,
    )
    ax.set(xlabel="predicted probability", ylabel="observed share of events")
    return _unit_square(ax)


def plot_roc(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw sensitivity against 1 - specificity.

    Parameters
    ----------
    frame : DataFrame
        Columns `false_positive_rate` and `true_positive_rate`, one row per corner.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        With the diagonal of a model that knows nothing.

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
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
    ax.plot(frame["false_positive_rate"], frame["true_positive_rate"], color=HUES[0], linewidth=1.8)
    ax.set(xlabel="1 - specificity", ylabel="sensitivity")
    return _unit_square(ax)


def plot_decision_curve(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the net benefit of acting on a model against the threshold probability.

    Parameters
    ----------
    frame : DataFrame
        Columns `threshold`, `model` and `everyone`: the net benefit of acting on predictions above
        the threshold, and of acting on everyone. Acting on no one has 0.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        With a legend. What is far below 0 is cut off.

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
    ax.axhline(0.0, color=GREY, linewidth=1, linestyle=":", label="no one")
    ax.plot(frame["threshold"], frame["everyone"], color=HUES[5], linestyle="--", label="everyone")
    ax.plot(frame["threshold"], frame["model"], color=HUES[0], linewidth=1.8, label="the model")
    top = max(0.01, float(frame[["model", "everyone"]].max().max()))
    ax.set(xlabel="threshold probability", ylabel="net benefit", ylim=(-0.25 * top, 1.08 * top))
    ax.legend(frameon=False, fontsize="small", title="act on", loc="upper right")
    return ax


def _unit_square(ax: Axes) -> Axes:
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_aspect("equal")
    return ax

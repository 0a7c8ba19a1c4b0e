"""The nomogram: a figure from which the risk is read with a ruler, as rms draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from ..arguments import Float
from ..errors import InvalidProblemError
from ..patients import ModelCard
from ..patients.term import NumericTerm, Term
from ..plots.style import new_figure, plain
from .code import event_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RISKS = np.array(
    [0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999]
)
_LONGEST = 26


class Scale(NamedTuple):
    """A line of a nomogram: where its labels are, and whether each stands above or below it."""

    name: str
    places: Float
    labels: list[str]
    above: list[bool]


def plot_nomogram(card: ModelCard, ax: Axes | None = None) -> Axes:
    """Draw the nomogram of a model.

    The predictor whose contribution varies most has 0 to 100 points, the others have theirs on the
    same scale. A spline that turns back has the values of its second branch below the line.

    Parameters
    ----------
    card : ModelCard
        The model.
    ax : Axes, optional
        Where to draw; by default a new figure, which needs the extra `plots`.

    Returns
    -------
    Axes
        The axes; `ax.figure.savefig("nomogram.pdf")` saves the figure.
    """
    scales = nomogram_scales(card)
    if ax is None:
        ax = new_figure(9.0, 0.9 + 0.62 * len(scales)).subplots()
    largest_total = max(float(scales[-2].places.max()), 1e-9)
    for row, scale in enumerate(scales):
        is_total = row >= len(scales) - 2
        x = scale.places * (100.0 / largest_total) if is_total else scale.places
        y = -float(row)
        ax.plot([x.min(), x.max()], [y, y], color="#444444", linewidth=1, solid_capstyle="butt")
        name = scale.name if len(scale.name) <= _LONGEST else scale.name[: _LONGEST - 1] + "…"
        ax.text(-3, y, plain([name])[0], ha="right", va="center", fontsize=9.5)
        for place, label, level in zip(x, plain(scale.labels), _levels(scale, x), strict=True):
            side = 1 if level > 0 else -1
            ax.plot([place, place], [y, y + side * 0.1], color="#444444", linewidth=0.8)
            height = 0.14 + 0.2 * (abs(level) - 1)
            ax.text(
                place, y + side * height, label, ha="center", fontsize=8,
                va="bottom" if side > 0 else "top",
            )  # fmt: skip
    ax.set_xlim(-34, 103)
    ax.set_ylim(-len(scales) + 0.35, 0.75)
    ax.axis("off")
    return ax


def nomogram_scales(card: ModelCard) -> list[Scale]:
    """Return the lines: points, predictors, total, and risk at the places of totals."""
    parts = [_term_values(term) for term in card.terms]
    spans = [float(np.ptp(log_odds)) for _, log_odds in parts]
    if not any(spans):
        raise InvalidProblemError("The model has no predictor with an effect to draw.")
    unit = max(spans) / 100.0
    ticks = np.arange(0, 101, 10)
    scales = [Scale("Points", ticks.astype(float), [str(t) for t in ticks], [True] * len(ticks))]
    least = card.intercept
    for term, (labels, log_odds) in zip(card.terms, parts, strict=True):
        lowest = float(log_odds.min())
        least += lowest
        scales.append(
            Scale(
                card.codebook.heading(term.name),
                (log_odds - lowest) / unit,
                labels,
                _branches(term, log_odds),
            )
        )
    most = sum(spans) / unit
    step = next(s for s in (5, 10, 20, 25, 50, 100, 200, 500) if most / s <= 14)
    totals = np.arange(0, most + step, step)
    scales.append(Scale("Total points", totals, [f"{t:g}" for t in totals], [True] * len(totals)))
    risks = _RISKS
    places = (logit(risks) - least) / unit
    inside = (places >= 0) & (places <= totals[-1])
    if inside.sum() < 2:  # as of rare events: the risks at the ends instead
        places = np.array([0.0, totals[-1]])
        risks, inside = expit(least + unit * places), np.array([True, True])
    labels = [f"{risk:.3g}" for risk in risks[inside]]
    scales.append(Scale(f"Risk of {event_of(card)}", places[inside], labels, [True] * len(labels)))
    return scales


def _term_values(term: Term) -> tuple[list[str], Float]:
    """Return labelled values of a predictor, and what they add to the log-odds."""
    values: list[float | str | None]
    if isinstance(term, NumericTerm):
        values = list(term.values or _round_values(*term.range))
        labels = [f"{value:.6g}" for value in values]
    elif term.kind == "boolean":
        values, labels = [0.0, 1.0], ["no", "yes"]
    else:
        values, labels = list(term.levels), list(term.levels)
    if term.missing_coefficient is not None:
        values, labels = [*values, None], [*labels, "not measured"]
    return labels, term.contribution(pd.Series(values, dtype=object)).log_odds


def _round_values(low: float, high: float) -> list[float]:
    """Return about ten round values in a range, and its ends to four digits."""
    low, high = float(f"{low:.4g}"), float(f"{high:.4g}")
    if low == high:
        return [low]
    power = 10.0 ** np.floor(np.log10(high - low) - 1)
    step = next(f * power for f in (1, 2, 5, 10, 20, 50) if (high - low) / (f * power) <= 12)
    values = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
    inner = values[(values > low + 0.3 * step) & (values < high - 0.3 * step)]
    return [low, *(float(round(value, 12)) + 0.0 for value in inner), high]  # no -0


def _branches(term: Term, log_odds: Float) -> list[bool]:
    """Return which labels stand above the line: those on the main branch, not missing values."""
    has_missing = term.missing_coefficient is not None
    known = log_odds[:-1] if has_missing else log_odds
    above = [True] * len(known)
    if isinstance(term, NumericTerm) and term.knots and len(known) > 2:
        main = np.sign(known[-1] - known[0]) or 1.0
        above = (np.sign(np.gradient(known)) * main >= 0).tolist()
    return [*above, False] if has_missing else above


def _levels(scale: Scale, x: Float) -> list[int]:
    """Return on which row each label stands: 1, 2 above, -1, -2 below, so that none overlap."""
    ends = {1: -np.inf, 2: -np.inf, -1: -np.inf, -2: -np.inf}
    levels = [0] * len(x)
    for place in np.argsort(x, kind="stable"):
        half = 0.55 + 0.52 * len(scale.labels[place])
        order = (1, 2, -1, -2) if scale.above[place] else (-1, -2)
        free = [level for level in order if x[place] - half > ends[level]]
        level = free[0] if free else order[-1]
        levels[place], ends[level] = level, x[place] + half
    return levels

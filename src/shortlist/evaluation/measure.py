"""Measures of predictions for patients whom the model has not seen, and how sure they are.

A measure comes with its influence values: by how much each row moves it, to first order. The
standard error is the root of the sum of their squares, summed within persons first. For the AUC
these are the values of DeLong et al. (1988), as LeDell et al. (2015) use them for predictions of
cross-validation; for calibration they give the sandwich variance of the regression.
"""

from __future__ import annotations

from math import exp, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import rankdata, t

from .metrics import scores

Float = NDArray[np.float64]
Int = NDArray[np.int64]

# Scales on which errors are closer to normal: ratios, and what lies between 0 and 1.
_LOGARITHMIC = ("brier", "calibration_slope", "observed_expected")
_LOGISTIC = ("auc",)
_TINY = 1e-300


class Measure(NamedTuple):
    """A value, and how much each row moves it."""

    value: float
    influence: Float


def measure(y: Int, log_odds: Float) -> dict[str, Measure]:
    """Return the measures of `Evaluation.optimism` for some predictions.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        1 for an event, else 0; both occur.
    log_odds : ndarray of shape (n_rows,)
        Predicted.

    Returns
    -------
    dict
        A `Measure` by name; a value of NaN, as where predictions separate the outcomes, has
        influences of NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.evaluation import measure
    >>> measure(np.array([0, 1, 0, 1]), np.array([-2.0, 0.5, 1.0, 2.0]))["auc"].value
    0.75
    """
    ones = np.ones(len(y), dtype=np.int64)
    probability = expit(log_odds)
    squares = (probability - y) ** 2
    values = scores(y, log_odds, ones)
    intercept, slope = values["calibration_intercept"], values["calibration_slope"]
    design = np.column_stack([np.ones(len(y)), log_odds])
    joint = influence_of_fit(design, y, expit(intercept + slope * log_odds))
    shifted = expit(values["calibration_in_the_large"] + log_odds)
    shares = y / y.sum() - probability / max(_TINY, probability.sum())
    influences = {
        "auc": _influence_of_auc(y, log_odds),
        "brier": (squares - squares.mean()) / len(y),
        "calibration_intercept": joint[:, 0],
        "calibration_slope": joint[:, 1],
        "calibration_in_the_large": influence_of_fit(design[:, :1], y, shifted)[:, 0],
        "observed_expected": values["observed_expected"] * shares,
    }
    return {name: Measure(value, influences[name]) for name, value in values.items()}


def net_benefit(y: Int, probability: Float, threshold: float) -> Measure:
    """Return the net benefit of acting above a threshold (Vickers and Elkin 2006).

    The package dcurves computes it too, but brings lifelines and statsmodels for two lines.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.evaluation import net_benefit
    >>> net_benefit(np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.6, 0.9]), 0.5).value
    0.0
    """
    harm = threshold / (1 - threshold)
    gain = np.where(probability >= threshold, np.where(y == 1, 1.0, -harm), 0.0)
    return Measure(float(gain.mean()), (gain - gain.mean()) / len(y))


def standard_error(influence: Float, persons: Int | None = None) -> float:
    """Return the standard error that influence values add up to; persons are independent."""
    if persons is not None:
        influence = np.bincount(persons, influence).astype(np.float64)
    return sqrt(float(influence @ influence))


def degrees_of_freedom(y: Int, persons: Int | None = None) -> int:
    """Return one less than the number of patients with the rarer outcome."""
    owners = np.arange(len(y)) if persons is None else persons
    return max(1, min(len(np.unique(owners[y == label])) for label in (0, 1)) - 1)


def interval(
    name: str,
    estimate: float,
    measured: Measure,
    y: Int,
    persons: Int | None = None,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return the interval of a measure: its error measured on predictions for unseen patients.

    Parameters
    ----------
    name : str
        The measure; the AUC has its interval on the scale of its log-odds, Brier score, slope and
        ratio on that of logarithms.
    estimate : float
        The middle, on that scale: the measured value, or one corrected for optimism.
    measured : Measure
        On predictions for patients that the model has not seen.
    y, persons
        The outcomes, and whose each row is, numbered from 0.
    level : float
        Coverage.

    Returns
    -------
    lower, upper : float
        NaN where the scale has no place for a value, as for an AUC of 1.
    """
    width = float(t.ppf(0.5 + level / 2, degrees_of_freedom(y, persons)))
    width *= standard_error(measured.influence, persons)
    value = measured.value
    if name in _LOGISTIC:
        if not (0 < estimate < 1 and 0 < value < 1):
            return nan, nan
        middle, width = float(logit(estimate)), width / (value * (1 - value))
        return float(expit(middle - width)), float(expit(middle + width))
    if name in _LOGARITHMIC:
        if not (estimate > 0 and value > 0) or width / value > 50:
            return nan, nan
        return estimate * exp(-width / value), estimate * exp(width / value)
    return estimate - width, estimate + width


def _influence_of_auc(y: Int, log_odds: Float) -> Float:
    """Return how far each row's share of pairs ranked rightly is from the mean."""
    events = y == 1
    n_events, n_others = int(events.sum()), int((~events).sum())
    above = rankdata(log_odds)
    share = np.empty(len(y))
    share[events] = (above[events] - rankdata(log_odds[events])) / n_others
    share[~events] = 1 - (above[~events] - rankdata(log_odds[~events])) / n_events
    mean = share[events].mean()
    influence: Float = (share - mean) / np.where(events, n_events, n_others)
    return influence


def influence_of_fit(design: Float, y: Int, probability: Float) -> Float:
    """Return how each row moves the coefficients of a logistic regression."""
    if np.isnan(probability).any():
        return np.full(design.shape, nan)
    curvature = (design.T * (probability * (1 - probability))) @ design
    scores = design * (y - probability)[:, None]
    influence: Float = np.linalg.lstsq(curvature, scores.T)[0].T.astype(np.float64)
    return influence

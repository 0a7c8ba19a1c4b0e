"""Performance of predicted log-odds on weighted rows.

scikit-learn has most of these, and the tests compare with it. But there a call validates its input
for longer than a solve takes: 40 AUCs of a resample took as long as its 40 solves. Here each is a
few array operations, and takes log-odds, so that no probability is rounded to 0 or 1.
"""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import root
from scipy.special import expit

# Those of `scores`, and what pages call them.
METRICS = {
    "auc": "AUC",
    "brier": "Brier score",
    "calibration_intercept": "Calibration intercept",
    "calibration_slope": "Calibration slope",
    "calibration_in_the_large": "Calibration in the large",
    "observed_expected": "Observed / expected",
}

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def auc(y: Int, log_odds: Float, weights: Int) -> float:
    """Return the probability that an event is ranked above a non-event, ties counting half.

    NaN if there is only one class.
    """
    values, position = np.unique(log_odds, return_inverse=True)
    events = np.bincount(position, weights * y, len(values))
    others = np.bincount(position, weights * (1 - y), len(values))
    n_pairs = events.sum() * others.sum()
    if n_pairs == 0:
        return nan
    ranked_below = np.cumsum(others) - 0.5 * others
    return float(events @ ranked_below / n_pairs)


def accuracy(y: Int, log_odds: Float, weights: Int) -> float:
    """Return the share of rows predicted rightly at a probability of 0.5."""
    return float(weights @ ((log_odds > 0) == y) / weights.sum())


def brier(y: Int, log_odds: Float, weights: Int) -> float:
    """Return the mean squared error of the probabilities."""
    return float(weights @ (expit(log_odds) - y) ** 2 / weights.sum())


def log_loss(y: Int, log_odds: Float, weights: Int) -> float:
    """Return the mean negative log-likelihood."""
    return float(weights @ np.logaddexp(0.0, (1 - 2 * y) * log_odds) / weights.sum())


def calibration(y: Int, log_odds: Float, weights: Int) -> tuple[float, float]:
    """Return intercept and slope of the unpenalised logistic regression of y on the log-odds.

    0 and 1 are ideal; a slope below 1 means that predictions are too extreme. Both are NaN where
    that regression does not exist, or has no finite solution to be found: log-odds that are
    constant or that separate the classes.
    """
    events, others = log_odds[y == 1], log_odds[y == 0]
    if len(np.unique(y)) < 2 or events.min() >= others.max() or events.max() <= others.min():
        return nan, nan
    # Centred and scaled, so that a start from zero does for any log-odds.
    centre, scale = log_odds.mean(), log_odds.std()
    design = np.column_stack([np.ones(len(y)), (log_odds - centre) / scale])
    found = fit_logistic(design, y, weights)
    if found is None:
        return nan, nan
    constant, slope = found / (1.0, scale)
    return float(constant - slope * centre), float(slope)


def calibration_in_the_large(y: Int, log_odds: Float, weights: Int) -> float:
    """Return the intercept of the regression of `calibration` with its slope fixed at 1.

    0 is ideal; above 0 there are more events than predicted. NaN if there is only one class.
    """
    if y.min() == y.max():
        return nan
    found = fit_logistic(np.ones((len(y), 1)), y, weights, log_odds)
    return nan if found is None else float(found[0])


def observed_expected(y: Int, log_odds: Float, weights: Int) -> float:
    """Return the number of events divided by that predicted; NaN if either is 0."""
    events, expected = float(weights @ y), float(weights @ expit(log_odds))
    return events / expected if events and expected else nan


def scores(y: Int, log_odds: Float, weights: Int) -> dict[str, float]:
    """Return the metrics that `Evaluation.optimism` corrects, by name; NaN where not defined.

    Rows of weight 0 are left out.
    """
    used = weights > 0
    if not used.all():
        y, log_odds, weights = y[used], log_odds[used], weights[used]
    intercept, slope = calibration(y, log_odds, weights)
    return {
        "auc": auc(y, log_odds, weights),
        "brier": brier(y, log_odds, weights),
        "calibration_intercept": intercept,
        "calibration_slope": slope,
        "calibration_in_the_large": calibration_in_the_large(y, log_odds, weights),
        "observed_expected": observed_expected(y, log_odds, weights),
    }


def fit_logistic(design: Float, y: Int, weights: Int, offset: Float | float = 0.0) -> Float | None:
    """Return the coefficients of an unpenalised logistic regression; None if it fails."""

    def gradient(parameters: Float) -> tuple[Float, Float]:
        probability = expit(offset + design @ parameters)
        curvature = weights * probability * (1 - probability)
        return design.T @ (weights * (probability - y)), (design.T * curvature) @ design

    found = root(gradient, np.zeros(design.shape[1]), jac=True, tol=1e-10)
    # A start at the solution is no progress to the solver, and no failure.
    is_solved = found.success or float(np.abs(found.fun).max()) <= 1e-9 * float(weights.sum())
    return found.x if is_solved else None

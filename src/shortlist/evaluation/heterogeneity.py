"""Estimates of several centres, summarised by random effects: their mean and how much they differ.

tau is estimated by restricted maximum likelihood. The interval of the mean is by Hartung and
Knapp, never narrower than without their factor (Röver, Knapp and Friede 2015). The prediction
interval does not trust the estimate of tau, which is 0 too often: it averages over all values by
their restricted likelihood, which is a Bayesian one with a flat prior (Higgins, Thompson and
Spiegelhalter 2009).
"""

from __future__ import annotations

from math import nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm, t

from ..arguments import Float
from .metric import tail_of

_ROUNDING = 1e-10  # of a likelihood
_N_TAUS = 1000  # over which a prediction interval averages


class RandomEffects(NamedTuple):
    """A mean over centres with its interval, and where the value of a new centre is expected.

    `tau` is the standard deviation between centres.
    """

    estimate: float
    lower: float
    upper: float
    prediction_lower: float
    prediction_upper: float
    tau: float
    n_centres: int


def random_effects(values: ArrayLike, errors: ArrayLike, level: float = 0.95) -> RandomEffects:
    """Summarise the estimates of centres.

    Parameters
    ----------
    values : array-like of shape (n_centres,)
        The estimates, on a scale on which they are about normal.
    errors : array-like of shape (n_centres,)
        Their standard errors, above 0.
    level : float
        Coverage of the intervals.

    Returns
    -------
    RandomEffects
        With one centre there is no interval, and with two no prediction interval: these are NaN.

    Examples
    --------
    >>> from shortlist.evaluation import random_effects
    >>> found = random_effects([0.2, 0.9, 0.4, 1.1], [0.1, 0.2, 0.1, 0.2])
    >>> round(found.estimate, 2), round(found.tau, 2)
    (0.62, 0.39)
    """
    y, v = np.asarray(values, dtype=np.float64), np.asarray(errors, dtype=np.float64) ** 2
    k, tail = len(y), tail_of(level)
    if k < 2:
        value = float(y[0]) if k else nan
        return RandomEffects(value, nan, nan, nan, nan, nan, k)
    tau = _tau(y, v)
    weights = 1 / (v + tau**2)
    mean = float(weights @ y / weights.sum())
    spread = float(weights @ (y - mean) ** 2) / (k - 1)
    error = sqrt(max(1.0, spread) / float(weights.sum()))
    half = float(t.ppf(1 - tail, k - 1)) * error
    ahead = _prediction(y, v, tail) if k > 2 else (nan, nan)
    return RandomEffects(mean, mean - half, mean + half, *ahead, tau, k)


def _prediction(y: Float, v: Float, tail: float) -> tuple[float, float]:
    """Return the prediction interval: quantiles of a mixture of normals, one for each tau."""
    unit = max(float(np.ptp(y)), float(np.sqrt(v.max())))
    share = (np.arange(_N_TAUS) + 0.5) / _N_TAUS
    taus = unit * share / (1 - share)  # all of them: from 0 to infinity
    weights = 1 / (v + taus[:, np.newaxis] ** 2)
    total = weights.sum(axis=1)
    means = weights @ y / total
    squares = (weights * (y - means[:, np.newaxis]) ** 2).sum(axis=1)
    likelihood = (np.log(weights).sum(axis=1) - np.log(total) - squares) / 2
    chances = np.exp(likelihood - likelihood.max()) / (1 - share) ** 2
    chances /= chances.sum()
    spreads = np.sqrt(taus**2 + 1 / total)
    far = 10 * float(spreads.max())

    def below(value: float, chance: float) -> float:
        return float(chances @ norm.cdf((value - means) / spreads)) - chance

    lower, upper = (
        float(brentq(below, means.min() - far, means.max() + far, args=(chance,), xtol=1e-9 * unit))
        for chance in (tail, 1 - tail)
    )
    return lower, upper


def _tau(y: Float, v: Float) -> float:
    """Return the standard deviation between centres with the highest restricted likelihood."""

    def loss(tau: float) -> float:
        weights = 1 / (v + tau**2)
        mean = weights @ y / weights.sum()
        fit = weights @ (y - mean) ** 2 - np.log(weights).sum() + np.log(weights.sum())
        return float(fit)

    highest = float(np.ptp(y))
    if highest == 0:
        return 0.0
    found = minimize_scalar(
        loss, bounds=(0.0, highest), method="bounded", options={"xatol": 1e-9 * highest}
    )
    return float(found.x) if found.fun < loss(0.0) - _ROUNDING else 0.0

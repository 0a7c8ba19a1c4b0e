"""Measures of predictions written down from their definitions; nothing here is of the package."""

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.stats import norm, t
from sklearn.metrics import brier_score_loss, roc_auc_score


def draws(n_rows, resample):
    """The rows of a resample of a report."""
    return np.sort(np.random.default_rng((0, resample)).integers(n_rows, size=n_rows))


def calibrate(y, log_odds):
    """Intercept and slope of the outcome on the log-odds."""

    def loss(parameters):
        return np.logaddexp(0, (1 - 2 * y) * (parameters[0] + parameters[1] * log_odds)).sum()

    return minimize(loss, [0.0, 1.0], method="BFGS", options={"gtol": 1e-7}).x


def scores(y, log_odds):
    """All measures of a report."""
    probability = 1 / (1 + np.exp(-log_odds))
    intercept, slope = calibrate(y, log_odds)
    return {
        "auc": roc_auc_score(y, log_odds),
        "brier": brier_score_loss(y, probability),
        "calibration_intercept": intercept,
        "calibration_slope": slope,
        "calibration_in_the_large": brentq(
            lambda a: (1 / (1 + np.exp(-a - log_odds))).sum() - y.sum(), -20, 20
        ),
        "observed_expected": y.sum() / probability.sum(),
    }


def with_errors(y, log_odds):
    """AUC, slope and O/E, each with its standard error."""
    found = scores(y, log_odds)
    events, others = log_odds[y == 1], log_odds[y == 0]
    wins = (events[:, None] > others) + 0.5 * (events[:, None] == others)
    # DeLong: the variance of a patient's share of pairs, within each outcome.
    variance = sum(np.var(wins.mean(axis=axis)) / wins.shape[1 - axis] for axis in (0, 1))
    a, b = calibrate(y, log_odds)
    design = np.column_stack([np.ones(len(y)), log_odds])
    fitted = 1 / (1 + np.exp(-a - b * log_odds))
    bread = np.linalg.inv((design.T * (fitted * (1 - fitted))) @ design)
    meat = (design.T * (y - fitted) ** 2) @ design
    risk = 1 / (1 + np.exp(-log_odds))
    shares = y / y.sum() - risk / risk.sum()
    return {
        "auc": (found["auc"], np.sqrt(variance)),
        "calibration_slope": (b, np.sqrt((bread @ meat @ bread)[1, 1])),
        "observed_expected": (
            found["observed_expected"],
            found["observed_expected"] * np.sqrt((shares**2).sum()),
        ),
    }


def ends(name, value, error, y):
    """The 95 % interval of a measure."""
    width = error * t.ppf(0.975, min(y.sum(), len(y) - y.sum()) - 1)
    if name == "auc":
        middle, width = np.log(value / (1 - value)), width / (value * (1 - value))
        return [1 / (1 + np.exp(-middle - sign * width)) for sign in (-1, 1)]
    return [value * np.exp(sign * width / value) for sign in (-1, 1)]


def summary(values, errors):
    """Mean, interval, prediction interval, and tau, from grids of tau."""
    y, v, k = np.asarray(values), np.asarray(errors) ** 2, len(values)

    def given(taus):
        """Mean, its precision and the log-likelihood for each tau."""
        all_v = v + taus[:, None] ** 2
        precision = (1 / all_v).sum(axis=1)
        means = (y / all_v).sum(axis=1) / precision
        squares = ((y - means[:, None]) ** 2 / all_v).sum(axis=1)
        return means, precision, -(np.log(all_v).sum(axis=1) + np.log(precision) + squares) / 2

    grid = np.linspace(0, 2 * np.std(y), 20_001)
    tau = grid[np.argmax(given(grid)[2])]
    w = 1 / (v + tau**2)
    mean = (w * y).sum() / w.sum()
    factor = max(1, (w * (y - mean) ** 2).sum() / (k - 1))
    error = np.sqrt(factor / w.sum())
    half = t.ppf(0.975, k - 1) * error
    # A new centre: tau by its likelihood, then the mean given tau, then the centre given both.
    taus = np.geomspace(1e-4, 1e6, 20_000) * np.sqrt(v.max())
    means, precision, density = given(taus)
    mass = np.exp(density - density.max()) * taus  # of steps that are even in logarithms
    mass /= mass.sum()
    sd = np.sqrt(taus**2 + 1 / precision)
    new = [
        brentq(lambda x, p=p: mass @ norm.cdf((x - means) / sd) - p, mean - 1e8, mean + 1e8)
        for p in (0.025, 0.975)
    ]
    return {
        "estimate": mean,
        "lower": mean - half,
        "upper": mean + half,
        "prediction_lower": new[0],
        "prediction_upper": new[1],
        "tau": tau,
    }

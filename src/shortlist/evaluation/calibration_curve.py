"""The smooth calibration curve, and how far predictions are from it on average."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import t

from ..arguments import Float, Int
from ..patients.term import KNOT_QUANTILES, spline_curves
from .metric import degrees_of_freedom, fit_logistic, influence_of_fit

_MANY = 100  # patients of the rarer outcome, for a fourth knot
_N_POINTS = 60
HIGHEST = 0.995  # quantile of the risks at which the curve ends; few patients have a higher one
_LARGE = 30.0  # log-odds


class SmoothCalibration(NamedTuple):
    """A curve of observed against predicted risk, and the mean distance of the two.

    `curve` has the columns `predicted`, `observed`, `lower` and `upper`; `ici`, the integrated
    calibration index, is the mean absolute difference over patients, `e90` its 90 % quantile.
    """

    curve: pd.DataFrame
    ici: float
    e90: float


def smooth_calibration(
    y: Int, log_odds: Float, persons: Int | None = None, level: float = 0.95
) -> SmoothCalibration | None:
    """Fit the outcome by a natural cubic spline of the predicted log-odds.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        1 for an event, else 0.
    log_odds : ndarray of shape (n_rows,)
        Predicted.
    persons : ndarray of shape (n_rows,), optional
        Whose each row is, numbered from 0.
    level : float
        Coverage of the intervals at each point.

    Returns
    -------
    SmoothCalibration or None
        None if there is no such fit, as where predictions separate the outcomes or are all equal.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.evaluation import smooth_calibration
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.uniform(0.05, 0.95, 2000)
    >>> y = (rng.random(2000) < risk).astype(int)
    >>> smooth_calibration(y, np.log(risk / (1 - risk))).ici < 0.02
    True
    """
    centre, scale = log_odds.mean(), log_odds.std()
    if not 0 < scale < np.inf or y.min() == y.max():
        return None
    x = (log_odds - centre) / scale
    n_knots = 4 if degrees_of_freedom(y, persons) >= _MANY else 3
    knots = np.unique(np.quantile(x, KNOT_QUANTILES[n_knots])).tolist()
    design = _design(x, knots)
    ones = np.ones(len(y), dtype=np.int64)
    found = fit_logistic(design, y, ones)
    if found is None:
        return None
    fitted = design @ found
    if np.abs(fitted).max() > max(_LARGE, 3 * np.abs(log_odds).max()):
        return None  # on its way to infinity
    observed = expit(fitted)
    influence = influence_of_fit(design, y, observed)
    if persons is not None:
        influence = np.column_stack([np.bincount(persons, part) for part in influence.T])
    low, high = np.quantile(x, [1 - HIGHEST, HIGHEST]).tolist()
    points = np.linspace(low, high, _N_POINTS)
    grid = _design(points, knots)
    middle = grid @ found
    error = np.sqrt(((influence @ grid.T) ** 2).sum(axis=0))
    width = float(t.ppf(0.5 + level / 2, degrees_of_freedom(y, persons))) * error
    curve = pd.DataFrame(
        {
            "predicted": expit(centre + scale * points),
            "observed": expit(middle),
            "lower": expit(middle - width),
            "upper": expit(middle + width),
        }
    )
    distance = np.abs(observed - expit(log_odds))
    return SmoothCalibration(curve, float(distance.mean()), float(np.quantile(distance, 0.9)))


def _design(x: Float, knots: list[float]) -> Float:
    return np.column_stack([np.ones(len(x)), x, *spline_curves(x, knots)])

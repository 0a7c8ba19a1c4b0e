"""Measures of predicted log-odds, their influence values, and intervals.

scikit-learn has most of the values, and the tests compare with it. But there a call validates its
input for longer than a solve takes: 40 AUCs of a resample took as long as its 40 solves. Here each
is a few array operations, and takes log-odds, so that no probability is rounded to 0 or 1.

An influence value says by how much a row moves a measure, to first order. The standard error is the
root of the sum of their squares, summed within persons first. For the AUC these are the values of
DeLong et al. (1988), as LeDell et al. (2015) use them for predictions of cross-validation; for
calibration they give the sandwich variance of the regression. The smooth calibration curve is a
fit too.
"""

from __future__ import annotations

from math import exp, nan, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, root
from scipy.special import expit, logit
from scipy.stats import norm, rankdata, t

from ..arguments import Float, Int
from ..errors import InvalidProblemError
from ..patients.term import KNOT_QUANTILES, spline_curves
from ..sample_size import persons_by_outcome

# The measures of `scores`, and what pages call them.
METRICS = {
    "auc": "AUC",
    "brier": "Brier score",
    "calibration_intercept": "Calibration intercept",
    "calibration_slope": "Calibration slope",
    "calibration_in_the_large": "Calibration in the large",
    "observed_expected": "Observed / expected",
}
# Ratios, whose errors are closer to normal on a logarithmic scale.
_LOGARITHMIC = ("brier", "calibration_slope", "observed_expected")
_TINY = 1e-300
_MANY = 100  # patients of the rarer outcome, for a fourth knot of the calibration curve
_N_POINTS = 60  # of the curve
HIGHEST = 0.995  # quantile of the risks at which the curve ends; few patients have a higher one
_LARGE = 30.0  # log-odds, of a fit on its way to infinity
_ROUNDING = 1e-9  # of (n + 1) p, which is 1 for 39 values and 95 %


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
    events = float(weights @ y)
    far = float(np.abs(log_odds).max()) + abs(float(logit(events / weights.sum())))
    # The number of events expected rises with the intercept, from too few to too many.
    return float(
        brentq(
            lambda intercept: float(weights @ expit(intercept + log_odds)) - events,
            -far - 1.0,
            far + 1.0,
            xtol=1e-12,
        )
    )


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


def outside_scores(y: Int, log_odds: Float, weights: Int) -> dict[str, float]:
    """Return the metrics that the .632+ bootstrap corrects, by name; NaN where not defined."""
    if y.min(initial=1) >= y.max(initial=0):  # one outcome, or no row
        return {"auc": nan, "brier": nan}
    return {"auc": auc(y, log_odds, weights), "brier": brier(y, log_odds, weights)}


def brier_by_chance(y: Int, log_odds: Float, weights: Int) -> float:
    """Return the Brier score if the same risks were given to the rows at random."""
    risk, share = expit(log_odds), float(weights @ y / weights.sum())
    of_events, of_others = (float(weights @ (risk - end) ** 2 / weights.sum()) for end in (1, 0))
    return share * of_events + (1 - share) * of_others


def point_632_plus(apparent: float, outside: float, chance: float) -> float:
    """Return the .632+ estimate of Efron and Tibshirani (1997).

    It is a weighted mean of the apparent performance and that outside the resamples, whose weight
    is 0.632 for a model that does not overfit, and rises to 1 for one that is no better than
    `chance` outside.
    """
    if (outside - chance) * (apparent - chance) <= 0:
        outside = chance
    overfitting = 0.0
    if (apparent - outside) * (apparent - chance) > 0:
        overfitting = (apparent - outside) / (apparent - chance)
    weight = 0.632 / (1 - 0.368 * overfitting)
    return (1 - weight) * apparent + weight * outside


def fit_logistic(design: Float, y: Int, weights: Int, offset: Float | float = 0.0) -> Float | None:
    """Return the coefficients of an unpenalised logistic regression; None if it fails."""

    def gradient(parameters: Float) -> tuple[Float, Float]:
        probability = expit(offset + design @ parameters)
        curvature = weights * probability * (1 - probability)
        return design.T @ (weights * (probability - y)), (design.T * curvature) @ design

    found = root(gradient, np.zeros(design.shape[1]), jac=True, tol=1e-10)
    # Starting at the solution looks like a lack of progress to the solver, but is not a failure.
    is_solved = found.success or float(np.abs(found.fun).max()) <= 1e-9 * float(weights.sum())
    return found.x if is_solved else None


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


def net_benefit(y: Int, probability: Float, threshold: float) -> float:
    """Return the net benefit of acting above a threshold (Vickers and Elkin 2006).

    The package dcurves computes it too, but brings lifelines and statsmodels for two lines.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.evaluation import net_benefit
    >>> net_benefit(np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.6, 0.9]), 0.5)
    0.0
    """
    harm = threshold / (1 - threshold)
    return float(np.where(probability >= threshold, np.where(y == 1, 1.0, -harm), 0.0).mean())


def standard_error(influence: Float, persons: Int | None = None) -> float:
    """Return the standard error that influence values add up to; persons are independent."""
    if persons is not None:
        influence = np.bincount(persons, influence).astype(np.float64)
    return sqrt(float(influence @ influence))


def degrees_of_freedom(y: Int, persons: Int | None = None) -> int:
    """Return one less than the number of patients with the rarer outcome."""
    return max(1, min(persons_by_outcome(y, persons)) - 1)


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
        ratio on the logarithmic scale.
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
        NaN where the value is not on the scale, as an AUC of 1.
    """
    width = float(t.ppf(0.5 + level / 2, degrees_of_freedom(y, persons)))
    width *= standard_error(measured.influence, persons)
    value = measured.value
    if name == "auc":
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


def percentile_interval(values: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval of bootstrap values.

    The ends are the (n + 1) p-th smallest values, for 399 values and 95 % the 10th and the 390th.
    NaN if there are too few values to have such ends: 95 % takes at least 39.

    Examples
    --------
    >>> from shortlist.evaluation import percentile_interval
    >>> [round(end, 9) for end in percentile_interval(range(1, 400))]
    [10.0, 390.0]
    """
    lower, upper = percentile_ends(np.asarray(values, dtype=np.float64), level)
    return float(lower), float(upper)


def percentile_ends(values: Float, level: float) -> Float:
    """Return the ends of `percentile_interval` along the first axis of values, in two rows."""
    tail = tail_of(level)
    if (len(values) + 1) * tail < 1 - _ROUNDING:
        return np.full((2, *values.shape[1:]), nan)
    ends: Float = np.quantile(values, [tail, 1 - tail], axis=0, method="weibull")
    return ends


def share_interval(count: float, total: float, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval for a share of which `count` of `total` were seen.

    Examples
    --------
    >>> from shortlist.evaluation import share_interval
    >>> [round(end, 3) for end in share_interval(0, 399)]
    [0.0, 0.01]
    """
    q, share = float(norm.ppf(1 - tail_of(level))), count / total
    middle = (share + q**2 / (2 * total)) / (1 + q**2 / total)
    half = q * sqrt(share * (1 - share) / total + (q / total) ** 2 / 4) / (1 + q**2 / total)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def share_of(
    has: NDArray[np.bool_], persons: Int | None = None, level: float = 0.95
) -> tuple[float, float, float]:
    """Return the share of rows that have something, with Wilson's interval.

    Rows of persons count as many as independent ones with the same error would be. NaN of none.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.evaluation import share_of
    >>> [round(value, 2) for value in share_of(np.ones(14, dtype=bool))]
    [1.0, 0.78, 1.0]
    """
    if not len(has):
        return nan, nan, nan
    share = float(has.mean())
    n = _independent((has - share) / len(has), persons)
    return share, *share_interval(share * n, n, level)


def _independent(influence: Float, persons: Int | None) -> float:
    """Return how many independent rows have the error of some rows of persons."""
    if persons is None:
        return float(len(influence))
    of_rows, of_persons = (standard_error(influence, owners) for owners in (None, persons))
    n_persons = len(np.unique(persons))
    if of_persons == 0:
        return float(n_persons)
    return max(1.0, min(1.0, (of_rows / of_persons) ** 2) * len(influence))


def worth_interval(
    gained: tuple[NDArray[np.bool_], float],
    lost: tuple[NDArray[np.bool_], float],
    persons: Int | None = None,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return the interval of the mean of rows of which some gain an amount and some lose another.

    Such is a net benefit, or by how much it exceeds that of acting on all. The mean is a difference
    of two shares of the same rows, whose Wilson intervals are combined (Newcombe 1998, Zou and
    Donner 2008), so that it does not collapse where few rows, or none, lose.

    Parameters
    ----------
    gained, lost : (ndarray of shape (n_rows,), float)
        Which rows gain, or lose, and how much each does.
    persons, level
        As in `interval`.

    Examples
    --------
    Of 200 patients, 60 are spared a treatment whose harm is 0.02 of a missed event; none is missed:

    >>> import numpy as np
    >>> from shortlist.evaluation import worth_interval
    >>> spared, missed = np.arange(200) < 60, np.zeros(200, dtype=bool)
    >>> [round(end, 3) for end in worth_interval((spared, 0.02), (missed, 1.0))]
    [-0.013, 0.007]
    """
    (is_up, gain), (is_down, loss) = gained, lost
    up, down = float(is_up.mean()), float(is_down.mean())
    mean = gain * up - loss * down
    worth = gain * is_up - loss * is_down
    n = _independent((worth - mean) / len(worth), persons)
    (low_up, high_up), (low_down, high_down) = (
        share_interval(share * n, n, level) for share in (up, down)
    )
    # A row does one or the other: the shares are negatively correlated.
    correlation = sqrt(up * down / max(_TINY, (1 - up) * (1 - down)))

    def distance(of_gain: float, of_loss: float) -> float:
        a, b = gain * of_gain, loss * of_loss
        return sqrt(a * a + b * b + 2 * correlation * a * b)

    lower = mean - distance(up - low_up, high_down - down)
    return lower, mean + distance(high_up - up, down - low_down)


def tail_of(level: float) -> float:
    """Return the share beyond each end of an interval; raise if the level makes no sense."""
    if not 0 < level < 1:
        raise InvalidProblemError(f"level: must be between 0 and 1, not {level!r}.")
    return (1 - level) / 2


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

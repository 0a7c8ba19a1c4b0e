"""ROC, calibration and decision curves of predictions, and the tables beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import roc_curve

from ..evaluation import interval, net_benefit, share_interval, smooth_calibration
from ..evaluation.calibration_curve import HIGHEST

Float = NDArray[np.float64]
Int = NDArray[np.int64]

LEVEL = 0.95
_THRESHOLDS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9,
)  # fmt: skip
_FEWEST_ROWS, _FEWEST_SHARE = 5, 0.02  # on both sides of a threshold that is worth a line
_MOST_GROUPS = 10
_SMALLEST_GROUP, _EVENTS_PER_GROUP = 20, 5
_N_BINS = 30
_N_POINTS = 60
_MOST_ROC_POINTS = 400


def describe_curves(y: Int, log_odds: Float, persons: Int | None) -> dict[str, Any]:
    """Return what the curves are drawn from; all axes and thresholds follow the risks.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        1 for an event, else 0; both occur.
    log_odds : ndarray of shape (n_rows,)
        Predicted.
    persons : ndarray of shape (n_rows,), optional
        Whose each row is, numbered from 0.
    """
    probability: Float = expit(log_odds)
    smooth = smooth_calibration(y, log_odds, persons, LEVEL)
    thresholds = choose_thresholds(probability)
    highest = min(0.99, 1.25 * thresholds[-1])
    steps = highest * np.arange(1, _N_POINTS + 1) / _N_POINTS
    return {
        "level": LEVEL,
        "roc": roc_points(y, log_odds),
        "thresholds": [_at_threshold(y, probability, persons, t) for t in thresholds],
        "calibration": calibration_groups(y, probability),
        "smooth": [] if smooth is None else smooth.curve.to_dict("records"),
        "ici": None if smooth is None else smooth.ici,
        "e90": None if smooth is None else smooth.e90,
        "histogram": _histogram(y, probability),
        "decision_curve": [_net_benefit(y, probability, persons, t) for t in steps.tolist()],
    }


def choose_thresholds(probability: Float) -> list[float]:
    """Return round risks that have enough patients above and below; or else the median risk."""
    fewest = max(_FEWEST_ROWS, _FEWEST_SHARE * len(probability))
    chosen = [
        threshold
        for threshold in _THRESHOLDS
        if fewest <= int((probability >= threshold).sum()) <= len(probability) - fewest
    ]
    return chosen or [float(np.clip(np.median(probability), 1e-6, 0.99))]


def roc_points(y: Int, log_odds: Float) -> list[dict[str, float]]:
    """Return the ROC curve, thinned to as many points as can be seen."""
    points = np.column_stack(roc_curve(y, log_odds)[:2])
    n_kept = min(len(points), _MOST_ROC_POINTS)
    kept = np.unique(np.linspace(0, len(points) - 1, n_kept).astype(np.int64))
    return [
        {"false_positive_rate": false_positive, "true_positive_rate": true_positive}
        for false_positive, true_positive in points[kept].tolist()
    ]


def _at_threshold(
    y: Int, probability: Float, persons: Int | None, threshold: float
) -> dict[str, Any]:
    """Return what acting above a threshold does."""
    acted = probability >= threshold
    return _net_benefit(y, probability, persons, threshold) | {
        "share_above": acted.mean(),
        "sensitivity": acted[y == 1].mean(),
        "specificity": (~acted)[y == 0].mean(),
        "predictive_value": y[acted].mean(),
    }


def _net_benefit(
    y: Int, probability: Float, persons: Int | None, threshold: float
) -> dict[str, float]:
    """Return the net benefit with its interval, and that of acting on everyone."""
    benefit = net_benefit(y, probability, threshold)
    lower, upper = interval("net_benefit", benefit.value, benefit, y, persons, LEVEL)
    everyone = net_benefit(y, np.ones(len(y)), threshold).value
    values = {"model": benefit.value, "lower": lower, "upper": upper, "everyone": everyone}
    return {"threshold": threshold} | values


def calibration_groups(y: Int, probability: Float) -> list[dict[str, Any]]:
    """Return predicted and observed shares of groups of about equal size, the lowest risk first."""
    rarer = int(min(y.sum(), len(y) - y.sum()))
    most = min(len(y) // _SMALLEST_GROUP, rarer // _EVENTS_PER_GROUP)
    n_groups = max(2, min(_MOST_GROUPS, most))
    order = np.argsort(probability, kind="stable")
    groups = []
    for rows in np.array_split(order, n_groups):
        events = int(y[rows].sum())
        lower, upper = share_interval(events, len(rows), LEVEL)
        groups.append(
            {
                "n": len(rows),
                "events": events,
                "predicted": float(probability[rows].mean()),
                "observed": events / len(rows),
                "lower": lower,
                "upper": upper,
            }
        )
    return groups


def _histogram(y: Int, probability: Float) -> list[dict[str, Any]]:
    """Return how many patients with and without the event have which risk.

    The last bar has all of the highest 0.5 % too.
    """
    highest = max(1e-9, float(np.quantile(probability, HIGHEST)))
    edges = np.linspace(0.0, highest, _N_BINS + 1)
    shown = np.minimum(probability, highest)
    counts = [np.histogram(shown[y == label], edges)[0].tolist() for label in (1, 0)]
    return [
        {"from": start, "to": stop, "events": events, "others": others}
        for start, stop, events, others in zip(
            edges[:-1].tolist(), edges[1:].tolist(), *counts, strict=True
        )
    ]

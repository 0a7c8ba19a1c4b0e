"""Conditional imputation: a missing value is the expected one, given what else was measured.

The equation of a number or a truth value is linear in the other predictors: numbers as they are,
truth values as 0 and 1, and an indicator of every level. Where one of these is missing too, its own
plain stand-in (median, most frequent value) takes its place, in fitting as in predicting. So an
equation needs nothing but what is at hand, and can be written down. The outcome is no part of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sklearn.linear_model import BayesianRidge

from ..arguments import Float
from .term import Imputation, InputValues, Weight

_FEWEST = 20  # known values; with fewer a median is as good
_MOST_INPUTS = 30  # those that are correlated most
_DIGITS = 9  # significant ones, so that other processors find the same equation


def fit_equation(
    name: str, values: Float, inputs: Mapping[str, InputValues], weights: Float | None = None
) -> Imputation | None:
    """Return the equation of a column from others, or None if it has too few values or others.

    Parameters
    ----------
    name : str
        The column.
    values : ndarray of shape (n_rows,)
        Its values, NaN where missing.
    inputs : mapping from column to a mapping from level (None for numbers) to ndarray
        The other columns in numbers, without missing values; its own are passed over.
    weights : ndarray of shape (n_rows,), optional
        Weights of the rows.
    """
    known = ~np.isnan(values)
    keys = [(other, level) for other, own in inputs.items() if other != name for level in own]
    if known.sum() < _FEWEST or not keys or np.ptp(values[known]) == 0:
        return None
    X = np.column_stack([inputs[other][level] for other, level in keys])[known]
    y, w = values[known], None if weights is None else weights[known]
    means, scales = np.average(X, axis=0, weights=w), X.std(axis=0)
    varying = np.flatnonzero(scales > 1e-9 * np.maximum(1.0, np.abs(means)))
    if len(varying) == 0:
        return None
    Z = (X[:, varying] - means[varying]) / scales[varying]
    if len(varying) > _MOST_INPUTS:
        together = np.abs((y - y.mean()) @ Z)
        chosen = np.sort(np.argsort(-together.round(9), kind="stable")[:_MOST_INPUTS])
        varying, Z = varying[chosen], Z[:, chosen]
    spread = y.std()
    slopes = BayesianRidge().fit(Z, (y - y.mean()) / spread, sample_weight=w).coef_
    found = [
        Weight(predictor=keys[j][0], level=keys[j][1], weight=_rounded(spread * slope / scales[j]))
        for j, slope in zip(varying.tolist(), slopes.tolist(), strict=True)
    ]
    centre = float(np.average(y, weights=w))
    shift = sum(part.weight * means[j] for part, j in zip(found, varying.tolist(), strict=True))
    return Imputation(
        intercept=_rounded(centre - float(shift)),
        weights=tuple(part for part in found if part.weight != 0),
        range=(float(y.min()), float(y.max())),
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS - 1}e}")

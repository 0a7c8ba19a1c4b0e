"""Imputation: a missing value is the expected one, given what else was measured, or is drawn.

The equation of a number or a binary value is linear in the other predictors: numbers as they are,
binary values as 0 and 1, and an indicator of every level. Where one of these is missing too, its
own plain stand-in (median, most frequent value) takes its place, in fitting as in predicting. So an
equation needs nothing but what is at hand, and can be written down. The outcome is not part of it.

Draws are for fitting alone, so they know the outcome. They go by chained equations: several times
over, each column with gaps gets an equation of all others, gaps of these filled as last drawn,
fitted to a resample of the rows. A missing number or binary value is then taken from one of the
five rows whose expected values are nearest (predictive mean matching); a level is drawn by the
shares that the equations of its indicators predict. So every drawn value is an observed one,
which no rounding of another processor changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.linear_model import BayesianRidge

from ..arguments import Float, Int
from .term import Imputation, InputValues, Weight

_FEWEST = 20  # known values; with fewer a median is as good
_MOST_INPUTS = 30  # those that are correlated most
_N_PASSES = 3  # over the columns, for each draw
_N_DONORS = 5
_LEAST_SHARE = 1e-6  # of a level
_OUTCOME = "\0"  # no column has this name
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
    means, scales = _moments(X, w)
    varying = np.flatnonzero(scales > 1e-9 * np.maximum(1.0, np.abs(means)))
    if len(varying) == 0:
        return None
    Z = (X[:, varying] - means[varying]) / scales[varying]
    centre, spread = map(float, _moments(y, w))
    if len(varying) > _MOST_INPUTS:
        together = np.abs((y - centre) @ (Z if w is None else w[:, np.newaxis] * Z))
        chosen = np.sort(np.argsort(-together.round(9), kind="stable")[:_MOST_INPUTS])
        varying, Z = varying[chosen], Z[:, chosen]
    with config_context(assume_finite=True, skip_parameter_validation=True):  # they are known
        slopes = BayesianRidge().fit(Z, (y - centre) / spread, sample_weight=w).coef_
    found = [
        Weight(predictor=keys[j][0], level=keys[j][1], weight=_rounded(spread * slope / scales[j]))
        for j, slope in zip(varying.tolist(), slopes.tolist(), strict=True)
    ]
    shift = sum(part.weight * means[j] for part, j in zip(found, varying.tolist(), strict=True))
    return Imputation(
        intercept=_rounded(centre - float(shift)),
        weights=tuple(part for part in found if part.weight != 0),
        range=(float(y.min()), float(y.max())),
    )


def _moments(values: Float, weights: Float | None) -> tuple[Any, Any]:
    """Return the weighted mean and standard deviation of each column."""
    means = np.average(values, axis=0, weights=weights)
    return means, np.sqrt(np.average((values - means) ** 2, axis=0, weights=weights))


def draw_missing(
    gappy: Mapping[str, NDArray[Any]],
    inputs: Mapping[str, InputValues],
    outcome: Float,
    weights: Float | None,
    number: int,
    seed: int,
) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield several draws of columns with gaps; draw i has the generator of (seed, i), from 1.

    Parameters
    ----------
    gappy : mapping from column to ndarray of shape (n_rows,)
        The columns with gaps: numbers with NaN, or levels with None.
    inputs : mapping
        All columns in numbers, as for `fit_equation`; a column whose only level is None is one of
        numbers.
    outcome : ndarray of shape (n_rows,)
        What the columns are to predict, in numbers.
    weights : ndarray of shape (n_rows,), optional
        Weights of the rows.
    number, seed : int
        How many draws, and their seed.

    Returns
    -------
    iterator of dict
        The columns without gaps.
    """
    for draw in range(1, number + 1):
        rng = np.random.default_rng((seed, draw))
        current: dict[str, InputValues] = {**inputs, _OUTCOME: {None: outcome}}
        drawn = dict(gappy)
        for _ in range(_N_PASSES):
            for name, values in gappy.items():
                drawn[name] = _draw(name, values, current, weights, rng)
                current[name] = {
                    level: drawn[name] if level is None else (drawn[name] == level).astype(float)
                    for level in current[name]
                }
        yield drawn


def _draw(
    name: str,
    values: NDArray[Any],
    inputs: Mapping[str, InputValues],
    weights: Float | None,
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Return a column with its gaps drawn, given all others."""
    gaps = pd.isna(values)
    known = np.flatnonzero(~gaps)
    counts = np.zeros(len(values))
    np.add.at(counts, known[rng.integers(len(known), size=len(known))], 1.0)

    def expected(numbers: Float) -> Float:
        """Return what an equation that is fitted to a resample of the known rows expects."""
        drawn = np.where(counts > 0, numbers, np.nan)
        product = counts if weights is None else counts * weights
        equation = fit_equation(name, drawn, inputs, product)
        if equation is None:
            used = product > 0
            return np.full(len(values), np.average(numbers[used], weights=product[used]))
        return np.broadcast_to(equation.values(inputs), len(values))

    filled = values.copy()
    levels = list(inputs[name])
    if levels == [None]:
        means = expected(values)
        filled[gaps] = values[known[_donors(means[known], means[gaps], rng)]]
    else:
        shares = np.column_stack([expected((values == level).astype(float)) for level in levels])
        limits = np.cumsum(np.maximum(shares[gaps], _LEAST_SHARE), axis=1)
        points = rng.random(len(limits)) * limits[:, -1]
        chosen = (points[:, np.newaxis] >= limits[:, :-1]).sum(axis=1)
        filled[gaps] = np.array(levels, dtype=object)[chosen]
    return filled


def _donors(known: Float, sought: Float, rng: np.random.Generator) -> Int:
    """Return for each value sought the position of one of the known ones that are nearest.

    Of equal ones any is as near.
    """
    order = rng.permutation(len(known))
    order = order[np.argsort(known[order], kind="stable")]
    ordered = known[order]
    first, last = (np.searchsorted(ordered, sought, side) for side in ("left", "right"))
    middle = first + np.floor(rng.random(len(sought)) * (last - first + 1)).astype(np.int64)
    size = min(2 * _N_DONORS, len(known))
    starts = np.clip(middle - _N_DONORS, 0, len(known) - size)
    window = starts[:, np.newaxis] + np.arange(size)
    distance = np.abs(ordered[window] - sought[:, np.newaxis])
    nearest = np.argsort(distance, axis=1, kind="stable")
    which = rng.integers(min(_N_DONORS, size), size=len(sought))
    everyone = np.arange(len(sought))
    donors: Int = order[window[everyone, nearest[everyone, which]]]
    return donors


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS - 1}e}")

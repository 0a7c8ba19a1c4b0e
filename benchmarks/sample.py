"""Correlated Gaussian features and labels of a logistic model whose predictors are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CORRELATION = 0.5


def true_predictors(n_columns: int, n_true: int) -> NDArray[np.int64]:
    """Return the columns that the labels depend on: equally spaced, away from both ends."""
    return ((np.arange(n_true) + 0.5) * n_columns / n_true).astype(np.int64)


def draw(
    n_rows: int,
    n_columns: int,
    n_true: int,
    random_state: int = 0,
    correlation: float = CORRELATION,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw features with `correlation ** |i - j|` between columns i and j, and labels.

    Every true predictor has coefficient 1 and the intercept is 0; a label is 1 with the probability
    that the logistic model gives. Features have mean 0 and variance 1. Nothing of the size of the
    features is allocated besides them, so that memory can be measured around this.

    Parameters
    ----------
    n_rows, n_columns : int
        Shape of the features.
    n_true : int
        Number of true predictors.
    random_state : int
        Seed.
    correlation : float
        Between neighbouring columns.

    Returns
    -------
    X : ndarray of shape (n_rows, n_columns)
        Features.
    y : ndarray of shape (n_rows,)
        Labels, 0 or 1.
    """
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n_rows, n_columns))
    _correlate(X, correlation)
    margin = np.zeros(n_rows)
    for j in true_predictors(n_columns, n_true):
        margin += X[:, j]
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-margin))).astype(np.int64)
    return X, y


def draw_published(
    n: int, correlation: float, n_true: int = 10, random_state: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw an instance of Liu and Lodi (2026), with as many rows as columns.

    The labels come from a generator with the same seed as that of the features. The true
    predictors, each with coefficient 1, begin with the first column.

    Parameters
    ----------
    n : int
        Number of rows, and of columns.
    correlation : float
        Between neighbouring columns.
    n_true : int
        Number of true predictors.
    random_state : int
        Seed of the features, and of the labels.

    Returns
    -------
    X : ndarray of shape (n, n)
        Features.
    y : ndarray of shape (n,)
        Labels, 0 or 1.
    """
    X = np.random.default_rng(random_state).normal(size=(n, n))
    _correlate(X, correlation)
    margin = X[:, :: n // n_true].sum(axis=1)
    chance = 1 / (1 + np.exp(-margin))
    return X, np.random.default_rng(random_state).binomial(1, chance, n)


def _correlate(X: NDArray[np.float64], correlation: float) -> None:
    """Give independent columns `correlation ** |i - j|`, in place."""
    for j in range(1, X.shape[1]):
        X[:, j] *= np.sqrt(1 - correlation**2)
        X[:, j] += correlation * X[:, j - 1]

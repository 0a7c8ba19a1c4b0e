"""A small data set that is hard enough for models, folds and ridges to differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import shortlist as sl


def make_data(
    n_rows: int = 60, n_columns: int = 5, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Gaussian columns of which the first two decide, with much noise; a third are events."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    scores = X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=n_rows)
    return X, (scores > np.quantile(scores, 2 / 3)).astype(np.int64)


def make_long_search() -> sl.SubsetProblem:
    """Labels that depend on nothing, which takes thousands of nodes to prove."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))
    return sl.SubsetProblem(X, rng.random(300) < 0.5, ridge=0.5, max_features=8)

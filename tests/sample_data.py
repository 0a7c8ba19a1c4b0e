"""A small data set that is hard enough for models, folds and ridges to differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def make_data(
    n_rows: int = 60, n_columns: int = 5, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Gaussian columns of which the first two decide, with much noise; a third are events."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    scores = X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=n_rows)
    return X, (scores > np.quantile(scores, 2 / 3)).astype(np.int64)

"""Blocks of predictors with the same number of columns, for vectorised computations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arguments import Int
from ..backends.support_fit import SupportFits

CHUNK = 2**15  # entries of a temporary that the processor's cache holds


def blocks(fits: SupportFits, predictors: Int) -> Iterator[tuple[Int, Int]]:
    """Yield places in `predictors`, of shape (n_places,), and columns, of shape (n_places, n_own).

    The predictors of a block own the same number of columns. Their columns of X together have at
    most as many entries as a chunk, unless that of a single predictor has more.
    """
    owner = fits.problem.column_predictor
    by_owner = np.argsort(owner, kind="stable")
    n_owned = np.bincount(owner, minlength=fits.problem.n_predictors)
    first = np.cumsum(n_owned) - n_owned
    for n_own in np.unique(n_owned[predictors]):
        alike = np.flatnonzero(n_owned[predictors] == n_own)
        size = max(1, CHUNK // (len(fits.X) * n_own))
        for start in range(0, len(alike), size):
            places = alike[start : start + size]
            yield places, by_owner[first[predictors[places], np.newaxis] + np.arange(n_own)]

"""Predictors of the same number of columns, which can be computed with at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..problem import SubsetProblem

Int = NDArray[np.int64]


def columns_by_size(problem: SubsetProblem, predictors: Int) -> Iterator[tuple[Int, Int]]:
    """Group predictors by their number of columns.

    Yields the places in `predictors` of those that own n columns, of shape (n_places,), and their
    columns, of shape (n_places, n), for each n that occurs.
    """
    owner = problem.column_predictor
    by_owner = np.argsort(owner, kind="stable")
    n_owned = np.bincount(owner, minlength=problem.n_predictors)
    first = np.cumsum(n_owned) - n_owned
    for n in np.unique(n_owned[predictors]):
        places = np.flatnonzero(n_owned[predictors] == n)
        yield places, by_owner[first[predictors[places], np.newaxis] + np.arange(n)]

"""The correlation filter: rank predictors by correlation with the outcome, buy from the top."""

from __future__ import annotations

import numpy as np

from ..arguments import Float
from ..backends.support_fit import SupportFits
from ..problem import SubsetProblem
from .affordable import buy_by_value


def correlations(problem: SubsetProblem) -> Float:
    """Return how strongly each predictor is correlated with the outcome.

    Parameters
    ----------
    problem : SubsetProblem
        Data; its ridge plays no part.

    Returns
    -------
    ndarray of shape (n_predictors,)
        Magnitude of Pearson's correlation with the label, rows weighted; for a predictor of several
        columns the multiple correlation, which is that of the label with its best linear
        combination of them.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.baselines import correlations
    >>> X = [[0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0], [1, 1]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1, 1, 0, 1], ridge=0.1)
    >>> correlations(problem).round(3).tolist()
    [0.417, 0.167]
    """
    fits = SupportFits(problem)
    roots = np.sqrt(fits.weights)
    outcome = roots * (fits.signs - np.average(fits.signs, weights=fits.weights))
    outcome /= np.linalg.norm(outcome)
    # Columns of tiny values are enlarged before they are squared; constant ones stay 0.
    X = roots[:, np.newaxis] * fits.X / np.maximum(np.abs(fits.X).max(axis=0), np.finfo(float).tiny)
    values = np.empty(problem.n_predictors)
    for g in range(problem.n_predictors):
        own = X[:, problem.columns_of((g,))]
        values[g] = np.linalg.norm(own @ np.linalg.lstsq(own, outcome, rcond=None)[0])
    return values


def correlation_support(problem: SubsetProblem) -> tuple[int, ...]:
    """Return what the correlation filter buys.

    Predictors are bought by decreasing correlation; when there is a budget, by decreasing
    correlation per price, which is the predictor's cost and the fees that it incurs. One that no
    longer fits is skipped, and cheaper ones after it may still be bought.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.

    Returns
    -------
    tuple of int
        Sorted predictors.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.baselines import correlation_support
    >>> X = [[0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0], [1, 1]]
    >>> correlation_support(sl.SubsetProblem(X, [0, 0, 1, 1, 1, 0, 1], ridge=0.1, max_features=1))
    (0,)
    """
    return buy_by_value(problem.limits, correlations(problem))

"""The greedy rule of prognostic research: rank predictors one at a time, buy from the top.

The value of a predictor is the magnitude of its coefficient in an unregularised logistic regression
on that predictor alone; when there is a budget, its value is divided by its cost. Magnitudes depend
on the scale of the columns, so scale them alike first.
"""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..problem import SubsetProblem

Float = NDArray[np.float64]

# Where one predictor separates the classes its coefficient has no finite optimum, and each Newton
# step adds about 1 to the margins. 25 steps, the limit of R's glm, leave such a predictor with a
# value far above any other.
_MAX_STEPS = 25
_SMALLEST_DECREASE = 1e-15  # relative to the loss: what rounding leaves of it
_SMALLEST_STEP = 1e-6


def univariable_magnitudes(problem: SubsetProblem) -> Float:
    """Return how strongly each predictor alone is associated with the outcome.

    Parameters
    ----------
    problem : SubsetProblem
        Data; its ridge plays no part.

    Returns
    -------
    ndarray of shape (n_predictors,)
        Magnitude of the unregularised univariable coefficient, the Euclidean norm of the
        coefficients for a predictor of several columns.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.baselines import univariable_magnitudes
    >>> X = [[0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0], [1, 1]]
    >>> problem = sl.SubsetProblem(X, [0, 0, 1, 1, 1, 0, 1], ridge=0.1)
    >>> univariable_magnitudes(problem).round(3).tolist()
    [1.792, 0.693]
    """
    magnitudes = np.empty(problem.n_predictors)
    for predictor in range(problem.n_predictors):
        columns = problem.X[:, problem.columns_of((predictor,))]
        magnitudes[predictor] = np.linalg.norm(_fit(columns, problem.signs, problem.weights))
    return magnitudes


def univariable_order(problem: SubsetProblem) -> tuple[int, ...]:
    """Return all predictors in the order in which the greedy rule tries to buy them.

    Parameters
    ----------
    problem : SubsetProblem
        Data and costs; costs count only if there is a budget.

    Returns
    -------
    tuple of int
        Predictors by decreasing magnitude, or by decreasing magnitude per cost if there is a
        budget. Free predictors come first; ties go to the larger magnitude, then the lower index.
    """
    magnitudes = univariable_magnitudes(problem)
    constraints = problem.constraints
    prices = np.ones(len(magnitudes)) if constraints.budget == inf else constraints.costs
    scores = np.divide(magnitudes, prices, out=np.full(len(prices), inf), where=prices > 0)
    return tuple(np.lexsort((-magnitudes, -scores)).tolist())


def greedy_support(problem: SubsetProblem) -> tuple[int, ...]:
    """Return what the greedy rule buys: each predictor in turn that is still affordable.

    Parameters
    ----------
    problem : SubsetProblem
        Data, prices and limits.

    Returns
    -------
    tuple of int
        Sorted predictors. What must be included is bought first; a predictor that no longer fits
        is skipped, and cheaper ones after it may still be bought.

    Examples
    --------
    >>> import shortlist as sl
    >>> from shortlist.baselines import greedy_support
    >>> X = [[0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0], [1, 1]]
    >>> y = [0, 0, 1, 1, 1, 0, 1]
    >>> greedy_support(sl.SubsetProblem(X, y, ridge=0.1, max_features=1))
    (0,)
    >>> greedy_support(sl.SubsetProblem(X, y, ridge=0.1, costs=[3, 1], budget=3))
    (1,)
    """
    constraints = problem.constraints
    support = constraints.include
    for predictor in univariable_order(problem):
        if predictor not in support and constraints.is_affordable((*support, predictor)):
            support = (*support, predictor)
    return tuple(sorted(support))


def _fit(columns: Float, signs: Float, weights: Float) -> Float:
    """Return the coefficients of an unregularised logistic regression, by Newton steps.

    Columns are centred, which moves the intercept alone, and least squares solves each step: a
    constant column then has a coefficient of 0, and dummy or spline columns that sum to the
    constant have the coefficients of smallest norm.
    """
    centred = columns - np.average(columns, axis=0, weights=weights)
    design = np.column_stack([np.ones(len(columns)), centred])
    theta = np.zeros(design.shape[1])
    loss = weights @ np.logaddexp(0.0, -signs * (design @ theta))
    for _ in range(_MAX_STEPS):
        probability = expit(-signs * (design @ theta))
        gradient = design.T @ (weights * signs * probability)
        curvature = weights * probability * (1.0 - probability)
        step = np.linalg.lstsq(design.T @ (curvature[:, None] * design), gradient, rcond=None)[0]
        decrement = gradient @ step
        if decrement <= _SMALLEST_DECREASE * loss:
            break
        size = 1.0
        while size > _SMALLEST_STEP:
            candidate = theta + size * step
            candidate_loss = weights @ np.logaddexp(0.0, -signs * (design @ candidate))
            if candidate_loss < loss:
                theta, loss = candidate, candidate_loss
                break
            size /= 2
        else:
            break
    return theta[1:]

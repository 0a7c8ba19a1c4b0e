"""The lasso: lower the L1 penalty and buy predictors in the order in which they enter the model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ..backends.support_fit import SupportFits
from ..problem import SubsetProblem
from .affordable import addable, buy_in_order, price_of
from .heuristic import check_logistic

_STEPS_PER_DECADE, _DECADES = 20, 4
# liblinear penalises the intercept like a coefficient, unless it stands for a large column.
_INTERCEPT_SCALING = 1e3
_UNPENALISED = 1e3  # what the columns are multiplied by that the penalty should spare


def lasso_support(problem: SubsetProblem) -> tuple[int, ...]:
    """Return what the lasso buys.

    scikit-learn's L1-penalised logistic regression is fitted to standardised columns, for penalties
    that fall from the one that allows no coefficient to a ten-thousandth of it, 20 for each factor
    of 10. A predictor enters with its first coefficient that is not zero; those that enter at the
    same penalty come in the order of the penalty on their largest coefficient. When there is a
    budget, the penalty on a coefficient is proportional to the price, which is the predictor's cost
    and the fees that it incurs. Predictors that are free or must be included are hardly penalised.

    Free predictors are bought first, then the others in the order of entry; one that no longer fits
    is skipped. It ends when nothing is affordable, or with the last penalty.

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
    >>> from shortlist.baselines import lasso_support
    >>> X = [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 1]]
    >>> lasso_support(sl.SubsetProblem(X, [0, 0, 1, 0, 1, 1], ridge=0.1, max_features=1))
    (2,)
    """
    return buy_in_order(problem.limits, _entries(problem))


def _entries(problem: SubsetProblem) -> Iterator[int]:
    """Yield the predictors that can be bought in the order in which they enter the path."""
    limits = problem.limits
    check_logistic(problem, "lasso", "ranks by")
    fits = SupportFits(problem)
    candidates = addable(limits, limits.include)
    prices = np.zeros(problem.n_predictors)
    prices[candidates] = [price_of(limits, limits.include, g) for g in candidates]
    free = [g for g in candidates if prices[g] == 0]
    yield from free

    columns = problem.columns_of((*limits.include, *candidates))
    columns = columns[fits.X[:, columns].any(axis=0)]
    owner = problem.column_predictor[columns]
    is_penalised = prices[owner] > 0
    if not is_penalised.any():
        return
    X = fits.X[:, columns] / np.abs(fits.X[:, columns]).max(axis=0)
    X /= np.sqrt(fits.weights @ X**2 / fits.weights.sum())
    X[:, is_penalised] *= prices[owner][is_penalised].min() / prices[owner][is_penalised]
    X[:, ~is_penalised] *= _UNPENALISED
    share = np.average(fits.signs, weights=fits.weights)
    largest_penalty = np.abs((fits.weights * (fits.signs - share)) @ X[:, is_penalised]).max() / 2

    entered = {*limits.include, *free}
    for step in range(1, _STEPS_PER_DECADE * _DECADES + 1):
        model = LogisticRegression(
            C=10 ** (step / _STEPS_PER_DECADE) / largest_penalty,
            l1_ratio=1.0,
            solver="liblinear",
            intercept_scaling=_INTERCEPT_SCALING,
            tol=1e-6,
            random_state=0,
        )
        with warnings.catch_warnings():
            # The order of entry is all that is needed, and does not need the last digits.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, fits.signs, sample_weight=fits.weights)
        largest = np.zeros(problem.n_predictors)
        np.maximum.at(largest, owner, np.abs(model.coef_[0]))
        newcomers = [g for g in np.flatnonzero(largest).tolist() if g not in entered]
        yield from sorted(newcomers, key=lambda g: -largest[g])
        entered.update(newcomers)
        if entered.issuperset(candidates):
            return

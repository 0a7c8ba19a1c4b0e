"""Rankings of predictors before any selection: univariable fits, correlations, the L1 path."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from ..arguments import Float
from ..errors import InvalidProblemError
from ..native.core import core, prepare
from ..problem import SubsetProblem
from .support_fit import SupportFits

# Univariable fits have next to no penalty: this share of the weights. Where one predictor separates
# the classes its coefficient has no finite optimum; that of the penalty is far above any other.
_LITTLE = 1e-12
# The lasso. liblinear penalises the intercept like a coefficient, unless it stands for a large
# column.
_STEPS_PER_DECADE, _DECADES = 20, 4
_INTERCEPT_SCALING = 1e3
_UNPENALISED = 1e3  # the factor of columns that the penalty should spare


def check_logistic(problem: SubsetProblem, backend: str, does: str) -> None:
    """Raise unless the loss is the one that a rule is made for."""
    if not problem.family.gives_risks:
        raise InvalidProblemError(
            f"backend: {backend!r} {does} logistic regressions; use loss='logistic' or a backend "
            "such as 'forward' or 'swap'."
        )


def univariable_magnitudes(problem: SubsetProblem) -> Float:
    """Return how strongly each predictor alone is associated with the outcome.

    That is the magnitude of its coefficient in an unregularised logistic regression on that
    predictor alone; for a predictor of several columns, the Euclidean norm of the coefficients.
    Magnitudes depend on the scale of the columns, so scale them alike first.
    """
    check_logistic(problem, "univariable", "ranks by")
    scale = np.abs(problem.X).max(axis=0)
    scale[scale == 0] = 1.0
    scaled = SubsetProblem(
        problem.X / scale,
        problem.response.values,
        ridge=_LITTLE * float(problem.weights.sum()),
        groups=problem.column_predictor,
        sample_weight=problem.weights,
    )
    prepared = prepare(scaled).problem
    fits = (core.fit(prepared, (g,), tolerance=0.0) for g in range(problem.n_predictors))
    return np.array([np.linalg.norm(coef / scale) for coef, *_ in fits])


def correlations(problem: SubsetProblem) -> Float:
    """Return how strongly each predictor is correlated with the outcome.

    That is the magnitude of Pearson's correlation with the label, rows weighted; for a predictor of
    several columns the multiple correlation, which is that of the label with its best linear
    combination of them.
    """
    fits = SupportFits(problem)
    roots = np.sqrt(fits.weights)
    outcome = roots * (fits.y - np.average(fits.y, weights=fits.weights))
    outcome /= np.linalg.norm(outcome)
    # Columns of tiny values are enlarged before they are squared; constant ones stay 0.
    X = roots[:, np.newaxis] * fits.X / np.maximum(np.abs(fits.X).max(axis=0), np.finfo(float).tiny)
    values = np.empty(problem.n_predictors)
    for g in range(problem.n_predictors):
        own = X[:, problem.columns_of((g,))]
        values[g] = np.linalg.norm(own @ np.linalg.lstsq(own, outcome, rcond=None)[0])
    return values


def fit_l1(X: Float, labels: Float, weights: Float, C: float) -> tuple[Float, float]:
    """Return coefficients and intercept of an L1-penalised logistic regression of scikit-learn.

    `C` is the inverse of the penalty on the sum of the coefficients' magnitudes, and the intercept
    is hardly penalised. The last digits may not have converged: the order of entry
    and the predictions do not need them.
    """
    from sklearn import config_context  # slow to import
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(
        C=C,
        l1_ratio=1.0,
        solver="liblinear",
        intercept_scaling=_INTERCEPT_SCALING,
        tol=1e-6,
        random_state=0,
    )
    with (
        warnings.catch_warnings(action="ignore", category=ConvergenceWarning),
        config_context(assume_finite=True, skip_parameter_validation=True),  # they are known
    ):
        model.fit(X, labels, sample_weight=weights)
    return model.coef_[0], float(model.intercept_[0])


def order_of_entry(problem: SubsetProblem) -> Iterator[int]:
    """Yield the predictors that can be bought in the order in which they enter the path."""
    limits = problem.limits
    check_logistic(problem, "lasso", "ranks by")
    fits = SupportFits(problem)
    candidates = limits.addable(limits.include)
    prices = np.zeros(problem.n_predictors)
    prices[candidates] = [limits.added_price(limits.include, g) for g in candidates]
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
    share = np.average(fits.y, weights=fits.weights)
    largest_penalty = np.abs((fits.weights * (fits.y - share)) @ X[:, is_penalised]).max() / 2

    entered = {*limits.include, *free}
    for step in range(1, _STEPS_PER_DECADE * _DECADES + 1):
        C = 10 ** (step / _STEPS_PER_DECADE) / largest_penalty
        coef, _ = fit_l1(X, fits.y, fits.weights, C)
        largest = np.zeros(problem.n_predictors)
        np.maximum.at(largest, owner, np.abs(coef))
        newcomers = [g for g in np.flatnonzero(largest).tolist() if g not in entered]
        yield from sorted(newcomers, key=lambda g: -largest[g])
        entered.update(newcomers)
        if entered.issuperset(candidates):
            return

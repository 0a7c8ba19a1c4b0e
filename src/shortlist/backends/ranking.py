"""Rankings of predictors before any selection: univariable fits, correlations, the L1 path."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arguments import Float
from ..errors import InvalidProblemError
from ..native.core import core, prepare
from ..problem import SubsetProblem
from .l1_path import L1Path
from .support_fit import SupportFits

# Univariable fits have next to no penalty: this share of the weights. Where one predictor separates
# the classes its coefficient has no finite optimum; that of the penalty is far above any other.
_LITTLE = 1e-12
_STEPS_PER_DECADE, _DECADES = 20, 4  # of the lasso
_UNPENALISED = 1e3  # the factor of columns that the penalty should spare


def check_loss(problem: SubsetProblem, backend: str) -> None:
    """Raise if the outcomes are labels and the loss is not the one that a rule is made for."""
    if problem.family.outcome == "labels" and not problem.family.gives_risks:
        raise InvalidProblemError(
            f"backend: {backend!r} fits logistic regressions to labels; use loss='logistic' or a "
            "backend such as 'forward' or 'swap'."
        )


def univariable_magnitudes(problem: SubsetProblem) -> Float:
    """Return how strongly each predictor alone is associated with the outcome.

    That is the magnitude of its coefficient in a regression on that predictor alone,
    with next to no penalty; for a predictor of several columns, the Euclidean norm of the
    coefficients. Magnitudes depend on the scale of the columns, so scale them alike first.
    """
    check_loss(problem, "univariable")
    scale = np.abs(problem.X).max(axis=0)
    scale[scale == 0] = 1.0
    scaled = problem.with_rows(problem.X / scale, problem.response, problem.weights)
    ridge = _LITTLE * float(problem.weights.sum())
    unlimited = core.Problem(prepare(scaled).data, ridge, problem.family.name)
    fits = (core.fit(unlimited, (g,), tolerance=0.0) for g in range(problem.n_predictors))
    return np.array([np.linalg.norm(coef / scale) for coef, *_ in fits])


def correlations(problem: SubsetProblem) -> Float:
    """Return how strongly each predictor is correlated with the outcome.

    That is the magnitude of Pearson's correlation with the label, number or count, rows weighted;
    with times to an event, that with the martingale residuals of no model. For a predictor of
    several columns it is the multiple correlation, that of their best linear combination.
    """
    fits = SupportFits(problem)
    roots = np.sqrt(fits.weights)
    null = np.full(len(fits.y), fits.null_intercept)
    outcome = -fits.of_rows.slope(null) / roots
    outcome /= np.linalg.norm(outcome)
    # Columns of tiny values are enlarged before they are squared; constant ones stay 0.
    X = roots[:, np.newaxis] * fits.X / np.maximum(np.abs(fits.X).max(axis=0), np.finfo(float).tiny)
    values = np.empty(problem.n_predictors)
    for g in range(problem.n_predictors):
        own = X[:, problem.columns_of((g,))]
        values[g] = np.linalg.norm(own @ np.linalg.lstsq(own, outcome, rcond=None)[0])
    return values


def order_of_entry(problem: SubsetProblem) -> Iterator[int]:
    """Yield the predictors that can be bought in the order in which they enter the path."""
    limits = problem.limits
    check_loss(problem, "lasso")
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
    path = L1Path(fits.of_rows, X, fits.null_intercept if problem.family.has_intercept else None)
    largest_penalty = np.abs(path.slopes()[is_penalised]).max()

    entered = {*limits.include, *free}
    for step in range(1, _STEPS_PER_DECADE * _DECADES + 1):
        coef, _ = path.fit(largest_penalty / 10 ** (step / _STEPS_PER_DECADE))
        largest = np.zeros(problem.n_predictors)
        np.maximum.at(largest, owner, np.abs(coef))
        newcomers = [g for g in np.flatnonzero(largest).tolist() if g not in entered]
        yield from sorted(newcomers, key=lambda g: -largest[g])
        entered.update(newcomers)
        if entered.issuperset(candidates):
            return

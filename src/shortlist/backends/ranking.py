"""Rankings of predictors before any selection: univariable fits, correlations, the L1 path."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arguments import Float
from ..errors import InvalidProblemError
from ..families import RowsLoss
from ..native.core import core, prepare
from ..problem import SubsetProblem
from .support_fit import SupportFits

# Univariable fits have next to no penalty: this share of the weights. Where one predictor separates
# the classes its coefficient has no finite optimum; that of the penalty is far above any other.
_LITTLE = 1e-12
_STEPS_PER_DECADE, _DECADES = 20, 4  # of the lasso
_UNPENALISED = 1e3  # the factor of columns that the penalty should spare
_MAX_STEPS, _MAX_HALVINGS = 100, 30
_ACCURACY = 1e-5  # of the conditions of an optimum, relative to the penalty
_ROUNDING = 1e-13  # of a loss: one that is higher by less is not worse
_DEPENDENT = 1e-10  # added to the diagonal of a Hessian, relative to it: columns may be copies


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


class L1Path:
    """Minimises the loss and the penalty times the sum of the coefficients' magnitudes.

    Each fit starts at the one before, and takes Newton steps whose quadratic models are minimised
    over the columns that are not at zero and those that want to leave it. The intercept is not
    penalised.

    Parameters
    ----------
    of_rows : RowsLoss
        The loss of the rows.
    X : ndarray of shape (n_rows, n_columns)
        Their columns.
    intercept : float or None
        The best intercept without coefficients; None if the loss has none.
    """

    def __init__(self, of_rows: RowsLoss, X: Float, intercept: float | None) -> None:
        self._of_rows, self._has_intercept = of_rows, intercept is not None
        design = np.column_stack([X, np.ones((len(X), int(self._has_intercept)))])
        self._design = np.asfortranarray(design)  # some of its columns are taken again and again
        self._beta = np.zeros(self._design.shape[1])
        if intercept is not None:
            self._beta[-1] = intercept
        self._is_penalised = np.arange(len(self._beta)) < X.shape[1]

    def slopes(self) -> Float:
        """Return the derivatives of the loss in the coefficients, at the last fit."""
        slopes = self._design.T @ self._of_rows.slope(self._predict(self._beta))
        return np.asarray(slopes[self._is_penalised])

    def fit(self, penalty: float) -> tuple[Float, float]:
        """Return the coefficients and the intercept of a penalty."""
        penalties = np.where(self._is_penalised, penalty, 0.0)
        beta = self._beta
        u = self._predict(beta)
        objective = self._of_rows.loss(u) + penalties @ np.abs(beta)
        for _ in range(_MAX_STEPS):
            slopes = self._design.T @ self._of_rows.slope(u)
            at_zero = self._is_penalised & (beta == 0)
            off = np.where(
                at_zero, np.abs(slopes) - penalties, np.abs(slopes + penalties * np.sign(beta))
            )
            if off.max() <= _ACCURACY * penalty:
                break
            working = np.flatnonzero(~at_zero | (off > 0))
            columns = self._design[:, working]
            hessian = columns.T @ self._of_rows.weigh(u, columns)
            hessian[np.diag_indices(len(working))] *= 1.0 + _DEPENDENT
            towards = hessian @ beta[working] - slopes[working]
            step = np.zeros(len(beta))
            step[working] = _minimise(hessian, towards, penalties[working], beta[working])
            step[working] -= beta[working]
            for _ in range(_MAX_HALVINGS):
                trial = beta + step
                trial_u = self._predict(trial)
                trial_objective = self._of_rows.loss(trial_u) + penalties @ np.abs(trial)
                if trial_objective <= objective + _ROUNDING * abs(objective):
                    break
                step *= 0.5
            else:
                break
            beta, u, objective = trial, trial_u, trial_objective
        self._beta = beta
        return beta[self._is_penalised], float(beta[-1]) if self._has_intercept else 0.0

    def _predict(self, beta: Float) -> Float:
        used = np.flatnonzero(beta)
        return np.asarray(self._design[:, used] @ beta[used])


def _minimise(hessian: Float, towards: Float, penalties: Float, start: Float) -> Float:
    """Minimise z'Hz / 2 - z't + sum of penalties |z|, by the signs of z (Lee and others, 2007).

    With signs that are given the minimum is that of a quadratic. On the way to it, the first
    coefficient that would change its sign stops at zero; at it, the one whose slope is the most
    above its penalty leaves zero.
    """
    z, signs = start.copy(), np.sign(start)
    is_free = penalties == 0
    active = is_free | (z != 0)
    diagonal = np.diag(hessian)
    active &= diagonal > 0  # a column without curvature stays where it is
    tolerance = 0.1 * _ACCURACY * penalties.max(initial=0.0)
    for _ in range(10 * len(z) + 10):
        while active.any():
            held = np.flatnonzero(active)
            known = hessian[held][:, ~active] @ z[~active]
            wanted = towards[held] - known - penalties[held] * signs[held]
            target = np.linalg.solve(hessian[np.ix_(held, held)], wanted)
            crosses = ~is_free[held] & (target * signs[held] <= 0)
            if not crosses.any():
                z[held] = target
                break
            shares = np.full(len(held), np.inf)
            shares[crosses] = z[held][crosses] / (z[held] - target)[crosses]
            first = int(shares.argmin())
            z[held] += shares[first] * (target - z[held])
            z[held[first]] = 0.0
            active[held[first]] = False
        slopes = hessian @ z - towards
        beyond = np.where(active | (diagonal <= 0), -np.inf, np.abs(slopes) - penalties)
        worst = int(beyond.argmax())
        if beyond[worst] <= tolerance:
            break
        active[worst], signs[worst] = True, -np.sign(slopes[worst])
    return z

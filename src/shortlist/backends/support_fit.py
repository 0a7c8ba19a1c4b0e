"""The best model on a fixed support, in numpy: damped Newton and a dual bound.

The hinge, which has no derivative at 1, is fitted by an interior-point method instead.
Enumeration fits with it; it shares no code with the core. The bound of a fit is
the one that `problem` states for every a with sum_m w_m a_m = 0: it holds however well the fit
converged. The rounding of the sums is taken off.
"""

from __future__ import annotations

from functools import partial
from math import inf
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtrs
from scipy.optimize import lsq_linear

from ..arguments import Float, Int
from ..families import RowsLoss
from ..problem import SubsetProblem

_MAX_NEWTON_STEPS = 200
_MAX_INTERIOR_STEPS = 100
_PRECISE = 1e-12  # of the complementarity, relative to the objective
_SHARE = 0.995  # of an interior step to where it would leave the interior
_TINY = np.finfo(np.float64).tiny


class SupportModel(NamedTuple):
    """A support and the best model on it, in the units of the problem's columns."""

    support: tuple[int, ...]
    coef: Float
    intercept: float
    objective: float


class SupportFits:
    """Fits on the supports of one problem, to its rows of positive weight and centred columns.

    Centring moves a constant from the columns to the intercept, which is free, and so changes no
    objective; it keeps the Newton equations of columns far from zero well-conditioned. Constant
    columns are exactly 0. Rows are ordered by stratum.
    """

    def __init__(self, problem: SubsetProblem) -> None:
        self.problem = problem
        rows = problem.response.at_risk(problem.weights)
        rows = rows[np.argsort(-problem.response.strata[rows], kind="stable")]
        self.weights = problem.weights[rows]
        response = problem.response.rows(rows)
        self.y = response.values
        self.of_rows = problem.family.of_rows(response, self.weights)
        X = problem.X[rows]
        self.means = self.weights / self.weights.sum() @ X
        self.X = np.asfortranarray(X - self.means)  # columns are gathered again and again
        self.X[:, response.constant_columns(X)] = 0.0

    def intercept_model(self) -> SupportModel:
        """Return the best model without coefficients, which is known in closed form."""
        centred = np.array([self.null_intercept])
        return self._model(self.problem.limits.include, np.array([], dtype=np.int64), centred)

    @property
    def null_intercept(self) -> float:
        """The intercept of the best model without coefficients."""
        return self.problem.family.null_intercept(self.y, self.weights)

    def fit(self, support: tuple[int, ...]) -> tuple[SupportModel, float]:
        """Return the best model with this support, as exact as floating point allows, and a bound.

        The bound is a lower bound on the objective of every model with this support.
        """
        columns = self.problem.columns_of(support)
        X = self.X[:, columns]
        if self.problem.family.is_smoothed:
            beta, a = fit_hinge(X, self.y, self.weights, self.problem.ridge)
            a = -self.y * a
        else:
            beta, a = self._minimise(X, columns), None
        bound = self._bound(X, columns, X @ beta[:-1] + beta[-1], a)
        return self._model(support, columns, beta), bound

    def _bound(self, X: Float, columns: Int, u: Float, a: Float | None) -> float:
        """Return the bound of the module's docstring for these columns.

        It belongs to the rows' a at u, or of the given one, which need not be feasible.
        """
        entropy, size, weighted = self.of_rows.dual_point(u, a)
        rounding = 4 * len(self.weights) * np.finfo(float).eps * size
        with np.errstate(over="ignore"):  # an infinite sum of squares is no bound
            values = self._values(-weighted @ X, columns)
            return max(float(entropy - values.sum() - rounding), self.problem.scale.least)

    def _values(self, slopes: Float, columns: Int) -> Float:
        """Return the maximum of s_n t - ridge/2 t^2 over the coefficients t that are allowed."""
        ridge, limits = self.problem.ridge, self.problem.limits
        values: Float = slopes**2 / (2 * ridge)
        if limits.has_intervals:
            free = slopes / ridge
            best = np.clip(free, limits.lower[columns], limits.upper[columns])
            limited = best != free
            values[limited] = (best * (slopes - 0.5 * ridge * best))[limited]
        return values

    def _model(self, support: tuple[int, ...], columns: Int, beta: Float) -> SupportModel:
        coef = np.zeros(self.problem.n_columns)
        coef[columns] = beta[:-1]
        has_intercept = self.problem.family.has_intercept
        intercept = float(beta[-1] - self.means[columns] @ beta[:-1]) if has_intercept else 0.0
        return SupportModel(support, coef, intercept, self.problem.objective(coef, intercept))

    def _minimise(self, X: Float, columns: Int) -> Float:
        """Minimise the penalised loss over theta and the intercept, its last entry.

        Far from the optimum a step must lower the loss. Close to it the loss is flat to the last
        digit while the gradient, on which the bound depends, still improves: full steps are then
        taken as long as the decrement, the gradient in the norm of the inverse Hessian, keeps
        falling.
        """
        n_rows, n_columns = X.shape
        of_rows, scale = self.of_rows, self.problem.scale
        design = np.column_stack([X, np.ones(n_rows)])
        penalty = np.full(n_columns + 1, self.problem.ridge)
        if self.problem.family.has_intercept:
            penalty[-1] = 0.0
        else:
            design[:, -1] = 0.0
        limits = self.problem.limits
        lower, upper = np.append(limits.lower[columns], -inf), np.append(limits.upper[columns], inf)
        is_limited = bool(np.isfinite([lower, upper]).any())

        def loss(beta: Float, u: Float) -> float:
            return float(of_rows.loss(u) + 0.5 * penalty @ beta**2)

        beta = best_beta = np.zeros(n_columns + 1)
        best_decrement = inf
        for _ in range(_MAX_NEWTON_STEPS):
            u = design @ beta
            value = loss(beta, u)
            gradient = penalty * beta + design.T @ of_rows.slope(u)
            model = _QuadraticModel(of_rows, u, design, penalty, gradient)
            step = model.limited_step(lower - beta, upper - beta) if is_limited else model.step()
            decrement = -float(gradient @ step)
            if decrement > 1e-8 * scale.of(value):
                length, move = 1.0, design @ step
                while not loss(beta + length * step, u + length * move) <= (
                    value - 1e-4 * length * decrement
                ):
                    length *= 0.5
                    if length == 0.0:  # no step is better, or none is a number
                        return best_beta
                beta = best_beta = np.clip(beta + length * step, lower, upper)
            elif decrement < best_decrement:
                best_beta, best_decrement = beta, decrement
                beta = np.clip(beta + step, lower, upper)
            else:
                break
        return best_beta


class _QuadraticModel(NamedTuple):
    """The quadratic model of the penalised loss at linear predictors u."""

    of_rows: RowsLoss
    u: Float
    design: Float
    penalty: Float
    gradient: Float

    def step(self) -> Float:
        """Solve the Newton equations by a factor of the Hessian.

        For rows that are not coupled that is a QR factorisation: the condition number is the square
        root of the Hessian's, so that the ridge still counts where it is all that tells nearly
        dependent columns apart. Columns are scaled to the same norm.
        """
        factor, scale = self.of_rows.root(self.u, self.design, self.penalty)
        # LAPACK itself: around matrices as small as these scipy's checks take longer.
        half = dtrtrs(factor, scale * self.gradient, lower=1)[0]
        step: Float = -scale * dtrtrs(factor, half, lower=1, trans=1)[0]
        return step

    def limited_step(self, least: Float, most: Float) -> Float:
        """Minimise the model over the steps between `least` and `most`.

        A coefficient that the gradient holds at its limit usually stays there: the Newton step of
        the others is then the minimum. If it is not, SciPy's bounded least squares finds it.
        """
        gradient, design, penalty = self.gradient, self.design, self.penalty
        held = ((least == 0) & (gradient > 0)) | ((most == 0) & (gradient < 0))
        others = self._replace(
            design=design[:, ~held], penalty=penalty[~held], gradient=gradient[~held]
        )
        step = np.zeros(len(gradient))
        step[~held] = others.step()
        change = (design @ step)[:, np.newaxis]
        ahead = gradient + design.T @ self.of_rows.weigh(self.u, change)[:, 0] + penalty * step
        if (
            ((least <= step) & (step <= most)).all()
            and (ahead[held & (least == 0)] >= 0).all()
            and (ahead[held & (most == 0)] <= 0).all()
        ):
            return step
        factor, scale = self.of_rows.root(self.u, design, penalty)
        target = -dtrtrs(factor, scale * gradient, lower=1)[0]
        found = lsq_linear(
            factor.T, target, (least / scale, most / scale), method="bvls", tol=1e-15, max_iter=1000
        )
        return np.clip(scale * found.x, least, most)


def fit_hinge(
    X: Float, labels: Float, weights: Float, ridge: float, tolerance: float = _PRECISE
) -> tuple[Float, Float]:
    """Return the coefficients with the intercept as last entry, and the a of each row.

    A primal-dual interior-point method. In each row the slack x is at least 0 and at least
    s = 1 - margin; p = x - s. At the optimum a p = 0 and (1 - a) x = 0, and the method follows the
    points at which both are mu, to mu = 0.
    """
    n_rows, n_columns = X.shape
    Z = -labels[:, np.newaxis] * np.column_stack([X, np.ones(n_rows)])  # margins are -Z beta
    penalty = np.append(np.full(n_columns, ridge), 0.0)
    beta, a = np.zeros(n_columns + 1), np.full(n_rows, 0.5)
    x, p = np.full(n_rows, 2.0), np.ones(n_rows)
    for _ in range(_MAX_INTERIOR_STEPS):
        left = weights @ (a * p + (1 - a) * x)
        objective = weights @ np.maximum(1.0 + Z @ beta, 0.0) + 0.5 * penalty @ beta**2
        # Rounding may put an a on its end, from which there is no step inwards.
        if left <= tolerance * objective or not 0.0 < a.min() <= a.max() < 1.0:
            break
        rows = (a, x, p)
        curvature = a * (1 - a) / ((1 - a) * p + a * x)
        hessian = (Z.T * (weights * curvature)) @ Z + np.diag(penalty)
        solve = partial(_direction, Z, weights, hessian, penalty * beta, rows)
        _, da, dx, dp = solve(-a * p, -(1 - a) * x)
        length = _length(*rows, da, dx, dp)
        ahead = (a + length * da) * (p + length * dp) + (1 - a - length * da) * (x + length * dx)
        goal = (weights @ ahead / left) ** 3 * left / (2.0 * weights.sum())
        step, da, dx, dp = solve(goal - a * p - da * dp, goal - (1 - a) * x + da * dx)
        length = min(1.0, _SHARE * _length(a, x, p, da, dx, dp))
        if not length * np.abs(step).max() > 0.0:
            break
        beta, a = beta + length * step, a + length * da
        x, p = x + length * dx, p + length * dp
    return beta, a


def _direction(
    Z: Float,
    weights: Float,
    hessian: Float,
    pull: Float,
    rows: tuple[Float, Float, Float],
    one: Float,
    other: Float,
) -> tuple[Float, Float, Float, Float]:
    """Return the changes of beta, a, x and p: a dp + p da = one and (1 - a) dx - x da = other."""
    a, x, p = rows
    scale = (1 - a) * p + a * x
    shift = ((1 - a) * one - a * other) / scale
    gradient = Z.T @ (weights * (a + shift)) + pull
    step = -np.asarray(np.linalg.lstsq(hessian, gradient, rcond=None)[0], np.float64)
    ds = Z @ step
    da = a * (1 - a) / scale * ds + shift
    dx = (other + x * da) / (1 - a)
    return step, da, dx, dx - ds


def _length(a: Float, x: Float, p: Float, da: Float, dx: Float, dp: Float) -> float:
    """Return the share of a step at which the first a, 1 - a, x or p reaches 0, at most 1."""
    ratios = (-da / a, da / (1 - a), -dx / x, -dp / p)
    return 1.0 / max(1.0, *(float(ratio.max()) for ratio in ratios))

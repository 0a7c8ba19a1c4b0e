"""Brute force: fit every affordable selection, and keep the best.

A reference that shares no code with the solver. Adding a predictor never raises the optimum, so
only selections to which nothing affordable can be added are fitted, each by a damped Newton method
until floating point ends its progress. The lower bound is the smallest dual bound of a selection,

    sum_m w_m H(a_m) - sum_{g bought} ||X_g' (w * a * y)||^2 / (2 ridge),

which holds for every a in [0, 1]^M with sum_m w_m a_m y_m = 0, however well the fit converged;
what rounding may have added to the sums is taken off.
"""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import entr, expit, xlog1py

from ..constraints import Constraints
from ..errors import InvalidProblemError
from ..options import Options, Progress
from ..problem import SubsetProblem
from ..result import Solution, Status

Float = NDArray[np.float64]

_MAX_FITS = 200_000
_MAX_SELECTIONS = 2**20  # affordable ones, which are listed before it is known what to fit
_MAX_NEWTON_STEPS = 200
# Selections that tie in exact arithmetic, as duplicated columns make them, differ by rounding.
_TIE = 1e-12
_ROUNDING = 1e-12  # bounds the error of summing at most some dozens of prices in another order


class _Model(NamedTuple):
    support: tuple[int, ...]
    coef: Float
    intercept: float
    objective: float

    def is_better_than(self, other: _Model) -> bool:
        """Whether the objective is lower, or ties and the support comes first."""
        difference = self.objective - other.objective
        if self.support != other.support and abs(difference) <= _TIE * other.objective:
            return self.support < other.support
        return difference < 0


class EnumerationBackend:
    """Fits every selection worth fitting; for small problems and for checking other backends."""

    def solve(self, problem: SubsetProblem, options: Options) -> Solution:
        """Return the best of all affordable models."""
        start = perf_counter()
        supports = _supports_to_fit(problem)
        rows = _Rows(problem)
        best, lower_bound, nodes, status = None, inf, 0, None
        try:
            if options.warm_start is not None:
                best = rows.fit(options.warm_start)[0]
            for support in supports:
                model, bound = rows.fit(support)
                nodes += 1
                lower_bound = min(lower_bound, bound)
                if best is None or model.is_better_than(best):
                    best = model
                seconds = perf_counter() - start
                unfitted = len(supports) - nodes
                if options.callback is not None:
                    proven = 0.0 if unfitted else lower_bound
                    options.callback(Progress(nodes, unfitted, best.objective, proven, seconds))
                if unfitted and options.time_limit is not None and seconds >= options.time_limit:
                    status = Status.TIME_LIMIT
                    break
                if unfitted and options.node_limit is not None and nodes >= options.node_limit:
                    status = Status.NODE_LIMIT
                    break
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
            best = best or rows.intercept_model()
        assert best is not None  # there always is a selection to fit: `include`, if nothing else
        if status is not None:
            lower_bound = 0.0  # all that is known of the selections not fitted
        elif best.objective - lower_bound <= options.gap * best.objective:
            status = Status.OPTIMAL
        else:
            status = Status.STALLED
        return Solution(
            status=status,
            support=best.support,
            cost=problem.constraints.cost_of(best.support),
            coef=best.coef,
            intercept=best.intercept,
            objective=best.objective,
            lower_bound=lower_bound,
            nodes=nodes,
            seconds=perf_counter() - start,
        )


class _Rows:
    """The rows that count, with centred columns.

    Centring moves a constant from the columns to the intercept, which is free, and so changes no
    objective; it keeps the Newton equations of columns far from zero well-conditioned.
    """

    def __init__(self, problem: SubsetProblem) -> None:
        self.problem = problem
        used = problem.weights > 0
        self.weights = problem.weights[used]
        self.signs = problem.signs[used]
        X = problem.X[used]
        self.means = self.weights / self.weights.sum() @ X
        self.X = X - self.means

    def intercept_model(self) -> _Model:
        """Return the best model without coefficients, which is known in closed form."""
        positive = self.signs > 0
        odds = self.weights[positive].sum() / self.weights[~positive].sum()
        coef, intercept = np.zeros(self.problem.n_columns), float(np.log(odds))
        support = self.problem.constraints.include
        return _Model(support, coef, intercept, self.problem.objective(coef, intercept))

    def fit(self, support: tuple[int, ...]) -> tuple[_Model, float]:
        """Return the best model with this support, and a lower bound on its objective."""
        problem = self.problem
        columns = problem.columns_of(support)
        X = self.X[:, columns]
        theta, constant = _minimise(X, self.signs, self.weights, problem.ridge)
        coef = np.zeros(problem.n_columns)
        coef[columns] = theta
        intercept = float(constant - self.means[columns] @ theta)
        model = _Model(support, coef, intercept, problem.objective(coef, intercept))
        margins = self.signs * (X @ theta + constant)
        return model, _dual_bound(X, self.signs, self.weights, problem.ridge, margins)


def _minimise(X: Float, signs: Float, weights: Float, ridge: float) -> tuple[Float, float]:
    """Minimise the penalised loss over theta and the intercept; X is centred.

    Far from the optimum a step must lower the loss. Close to it the loss is flat to the last digit
    while the gradient, on which the dual bound depends, still improves: full steps are then taken
    as long as the decrement, the gradient in the norm of the inverse Hessian, keeps falling.
    """
    n_rows, n_columns = X.shape
    design = np.column_stack([X, np.ones(n_rows)])
    penalty = np.full(n_columns + 1, ridge)
    penalty[-1] = 0.0

    def loss(beta: Float, margins: Float) -> float:
        return float(weights @ np.logaddexp(0.0, -margins) + 0.5 * penalty @ beta**2)

    beta = best_beta = np.zeros(n_columns + 1)
    best_decrement = inf
    for _ in range(_MAX_NEWTON_STEPS):
        margins = signs * (design @ beta)
        a = expit(-margins)
        gradient = penalty * beta - design.T @ (weights * a * signs)
        step = _newton_step(design, weights * a * expit(margins), penalty, gradient)
        decrement = -float(gradient @ step)
        value = loss(beta, margins)
        if decrement > 1e-8 * value:
            length, move = 1.0, signs * (design @ step)
            while loss(beta + length * step, margins + length * move) > (
                value - 1e-4 * length * decrement
            ):
                length *= 0.5
            beta = best_beta = beta + length * step
        elif decrement < best_decrement:
            best_beta, best_decrement = beta, decrement
            beta = beta + step
        else:
            break
    return best_beta[:-1], float(best_beta[-1])


def _newton_step(design: Float, curvature: Float, penalty: Float, gradient: Float) -> Float:
    """Solve the Newton equations by a QR factorisation, which never forms the Hessian.

    The condition number is the square root of the Hessian's, so that the ridge still counts where
    it is all that tells nearly dependent columns apart. Columns are scaled to the same norm.
    """
    roots = np.vstack([np.sqrt(curvature)[:, np.newaxis] * design, np.diag(np.sqrt(penalty))])
    scale = 1.0 / np.linalg.norm(roots, axis=0)
    factor = np.linalg.qr(roots * scale, mode="r")
    half = solve_triangular(factor, scale * gradient, trans="T", check_finite=False)
    step: Float = -scale * solve_triangular(factor, half, check_finite=False)
    return step


def _dual_bound(X: Float, signs: Float, weights: Float, ridge: float, margins: Float) -> float:
    """Return the bound of the module's docstring for the a that belongs to these margins."""
    a = expit(-margins)
    positive = signs > 0
    heavy, light = weights[positive] @ a[positive], weights[~positive] @ a[~positive]
    # The heavier class is scaled down, so that sum w a y = 0 and a stays in [0, 1].
    if heavy > light:
        a[positive] *= light / heavy
    else:
        a[~positive] *= heavy / light
    entropy = weights @ (entr(a) - xlog1py(1.0 - a, -a))  # exact to the last digits for tiny a
    correlations = X.T @ (weights * a * signs)
    rounding = 4 * len(a) * np.finfo(float).eps * entropy
    bound = entropy - correlations @ correlations / (2 * ridge) - rounding
    return max(0.0, float(bound))  # a loss is positive


def _supports_to_fit(problem: SubsetProblem) -> list[tuple[int, ...]]:
    """Return the affordable supports to which nothing can be added, in lexicographic order."""
    constraints = problem.constraints
    constant = np.ones(problem.n_predictors, dtype=bool)
    rows = problem.X[problem.weights > 0]
    varies = (rows != rows[0]).any(axis=0)
    constant[problem.column_predictor[varies]] = False
    # A constant column only repeats the intercept: it is bought if it must be, never by choice.
    unwanted = set(constraints.exclude) | set(constraints.include) | set(np.flatnonzero(constant))
    choices = np.array([g for g in range(problem.n_predictors) if g not in unwanted], dtype=int)
    everything = tuple(sorted({*constraints.include, *choices.tolist()}))
    if constraints.is_affordable(everything):
        return [everything]
    chosen = _maximal_selections(constraints, choices)
    supports = [tuple(np.flatnonzero(row).tolist()) for row in chosen]
    return sorted(support for support in supports if constraints.is_affordable(support))


def _maximal_selections(constraints: Constraints, choices: NDArray[np.int_]) -> NDArray[np.bool_]:
    """List selections of `include` and `choices` to which no choice can be added, a row each.

    Prices here are sums in another order than that of `Constraints`. So a selection is listed when
    it is affordable but for rounding, and left out only when a larger one surely is affordable.
    """
    exact = constraints.integral or constraints.unit_budget == inf
    slack = 0.0 if exact else _ROUNDING * constraints.unit_budget
    level = np.zeros((1, constraints.n_predictors), dtype=bool)
    level[0, list(constraints.include)] = True
    last = np.array([-1])  # of the choices in a row, which are bought in this order, the last
    maximal, n_listed, n_maximal = [], 0, 0
    while len(level):
        price = _price_after_adding(constraints, level, choices)
        addable = ~level[:, choices] & bool(level[0].sum() < constraints.max_features)
        full = ~(addable & (price <= constraints.unit_budget - slack)).any(axis=1)
        maximal.append(level[full])
        n_listed += len(level)
        n_maximal += int(full.sum())
        addable &= price <= constraints.unit_budget + slack
        rows, added = np.nonzero(addable & (np.arange(len(choices)) > last[:, np.newaxis]))
        if n_maximal > _MAX_FITS or n_listed + len(rows) > _MAX_SELECTIONS:
            raise InvalidProblemError(
                f"backend: 'enumeration' is for at most {_MAX_FITS} selections, which this problem "
                "exceeds; use 'native' or tighten budget or max_features."
            )
        level, last = level[rows], added
        level[np.arange(len(rows)), choices[added]] = True
    return np.concatenate(maximal)


def _price_after_adding(
    constraints: Constraints, level: NDArray[np.bool_], choices: NDArray[np.int_]
) -> Float:
    """Return the unit price of every selection of `level` with every choice added to it."""
    before: Float = level.astype(np.float64) @ constraints.unit_costs
    price = before[:, np.newaxis] + constraints.unit_costs[choices]
    for amount, fee in zip(constraints.unit_fees, constraints.fees, strict=True):
        paid: NDArray[np.bool_] = level[:, list(fee.members)].max(axis=1)
        price += amount * (paid[:, np.newaxis] | np.isin(choices, fee.members))
    return price

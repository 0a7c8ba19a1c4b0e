"""The ridge logistic regression on a fixed support: Newton's method with Cholesky factors."""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from .cholesky import FIRST, factorise, substitute
from .hessian import Hessian, fill_hessian, list_columns
from .layout import copy, linear_predictor
from .point import Rows, column_slopes, evaluate_columns, evaluate_rows
from .reference import kernel
from .rows import total_of

# Relative accuracy of fits that may be the answer, and of those on the way to one.
FINE, COARSE = 1e-10, 1e-3
_MAX_STEPS = 200
_MAX_HALVINGS = 40
# Steps after which a fit that no longer improves is as good as rounding lets it be.
_PATIENT_STEPS = 8


class Start(IntEnum):
    """What a fit may rely on."""

    PREDICTOR = 0  # rows.u is some linear predictor
    ROWS = 1  # rows.q and rows.d belong to it
    MODEL = 2  # and so does theta, which is 0 outside the support


class Fit(NamedTuple):
    """The model that is fitted."""

    rows: Rows
    hessian: Hessian
    theta: np.ndarray  # (n_columns,)
    gradient: np.ndarray  # (n_columns,)
    target: np.ndarray  # (n_rows,) working response of the least-squares start


@kernel
def fit_selection(data, fit, status, theta0, cutoff, tolerance, start):
    """Fit fit.theta on the bought predictors, starting from what is known.

    Stops when the bound reaches `cutoff` (the support cannot matter any more) or when it is within
    tolerance * objective of the objective. Returns (intercept, objective, bound), the bound being
    that of the model in fit.theta.
    """
    theta, columns = fit.theta, fit.hessian.columns
    n = list_columns(data, status, columns)
    inside = start == Start.MODEL
    if start == Start.PREDICTOR:
        theta0, _, _, _ = evaluate_rows(data, fit.rows, theta0, 0.5)
    if inside:
        theta0, last_theta0, _ = _step_from_model(data, fit, n, theta0)
    else:
        theta[:] = 0.0
        theta0, stepped = _least_squares_step(data, fit, n)
        last_theta0 = 0.0
        if not stepped:
            return theta0, math.inf, -math.inf
    objective, bound = math.inf, -math.inf
    n_halvings = 0
    may_restart = True
    for step in range(_MAX_STEPS):
        # 1. Objective and bound of the current model.
        theta0, loss, entropy, mismatch = evaluate_rows(data, fit.rows, theta0, 0.5)
        bound = entropy - evaluate_columns(data, fit.rows, columns, n, fit.gradient)
        new_objective = loss + 0.5 * data.ridge * _squares(theta, columns, n)
        if bound >= cutoff:
            return theta0, new_objective, bound
        # 2. Go half-way back if the last step overshot.
        if not new_objective <= objective * (1.0 + 1e-13):
            n_halvings += 1
            if n_halvings == _MAX_HALVINGS:
                break
            theta0 = _halve_step(data, fit, n, theta0, last_theta0)
            continue
        # 3. A least-squares start that is worse than no model at all: start from none.
        if may_restart and objective == math.inf and new_objective > 2.0 * data.null_objective:
            may_restart = False
            theta[:] = 0.0
            theta0 = 0.0
            linear_predictor(data, theta, theta0, fit.rows.u)
            continue
        # 4. Stop when the model is good enough, or as good as rounding lets it be.
        n_halvings = 0
        stalled = objective - new_objective <= 1e-15 * objective and step >= _PATIENT_STEPS
        objective = new_objective
        if objective - bound <= tolerance * objective or stalled:
            break
        # 5. Step to the minimum of the quadratic model.
        theta0, last_theta0, stepped = _newton_step(data, fit, n, theta0, mismatch)
        if not stepped:
            break
    return theta0, objective, bound


@kernel
def start_from_null(data, fit):
    """Make the fit's point the model without coefficients; return its intercept."""
    fit.theta[:] = 0.0
    linear_predictor(data, fit.theta, data.null_intercept, fit.rows.u)
    evaluate_rows(data, fit.rows, data.null_intercept, 1.0)
    return data.null_intercept


@kernel
def start_from_rows(fit, rows):
    """Make the fit's rows those of another point."""
    copy(fit.rows.u, rows.u)
    copy(fit.rows.q, rows.q)
    copy(fit.rows.d, rows.d)


@kernel
def _squares(theta, columns, n):
    total = 0.0
    for i in range(n):
        total += theta[columns[i]] * theta[columns[i]]
    return total


@kernel
def _step_from_model(data, fit, n, theta0):
    """A Newton step from a model whose rows are known."""
    q = fit.rows.q
    mismatch = total_of(q[data.n_positive :]) - total_of(q[: data.n_positive])
    evaluate_columns(data, fit.rows, fit.hessian.columns, n, fit.gradient)
    return _newton_step(data, fit, n, theta0, mismatch)


@kernel
def _least_squares_step(data, fit, n):
    """Make fit.theta, which is 0, the weighted least-squares fit to the linear predictor.

    The start need not be in the span of the columns: this is the first step of iteratively
    reweighted least squares. Returns the intercept, and whether there was such a step.
    """
    target, rows, columns = fit.target, fit.rows, fit.hessian.columns
    for m in range(target.size):
        target[m] = rows.q[m] - rows.d[m] * rows.u[m]
    mismatch = total_of(target[data.n_positive :]) - total_of(target[: data.n_positive])
    for i in range(n):
        positive, negative = column_slopes(data, columns[i], target)
        fit.gradient[columns[i]] = positive + negative
    theta0, _, stepped = _newton_step(data, fit, n, 0.0, mismatch)
    return theta0, stepped


@kernel
def _newton_step(data, fit, n, theta0, mismatch):
    """Take the step from fit.theta, whose gradient is in fit.gradient.

    Returns the new intercept, the old one, and whether there was a step: there is none where all
    curvatures vanish or columns are dependent.
    """
    total = total_of(fit.rows.d)
    if not total > 0.0:
        return theta0, theta0, False
    hessian, theta = fit.hessian, fit.theta
    columns, step, means = hessian.columns, hessian.step, hessian.mean
    fill_hessian(data, hessian, fit.rows.d, FIRST, n, total)
    for i in range(n):
        j = columns[i]
        step[i] = -(fit.gradient[j] - mismatch * means[i] + data.ridge * theta[j])
    if not factorise(hessian.matrix, FIRST, n):
        return theta0, theta0, False
    substitute(hessian.matrix, n, step)
    last_theta0 = theta0
    theta0 -= mismatch / total
    for i in range(n):
        theta[columns[i]] += step[i]
        theta0 -= step[i] * means[i]
    linear_predictor(data, theta, theta0, fit.rows.u)
    return theta0, last_theta0, True


@kernel
def _halve_step(data, fit, n, theta0, last_theta0):
    """Take back half of the last step; return the intercept."""
    columns, step = fit.hessian.columns, fit.hessian.step
    for i in range(n):
        step[i] *= 0.5
        fit.theta[columns[i]] -= step[i]
    theta0 = 0.5 * (theta0 + last_theta0)
    linear_predictor(data, fit.theta, theta0, fit.rows.u)
    return theta0

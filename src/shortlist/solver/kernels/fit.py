"""The ridge logistic regression on a fixed support: Newton's method with Cholesky factors.

Each step is the minimum of the quadratic model within the limits of the coefficients.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from .cholesky import FIRST, factorise, substitute
from .held import correct_held, held_slope, hold_outward, within
from .hessian import Hessian, fill_hessian, list_columns
from .layout import add_columns, copy, linear_predictor
from .point import (
    Moved,
    Rows,
    column_slopes,
    evaluate_columns,
    evaluate_rows,
    move_rows,
    value_of_slope,
)
from .reference import kernel
from .rows import dot, total_of
from .trace import record_moved, record_point

# Relative accuracy of fits that may be the answer, and of those on the way to one.
FINE, COARSE = 1e-10, 1e-3
_MAX_STEPS = 200
_MAX_HALVINGS = 40
# Steps after which a fit that no longer improves is as good as rounding lets it be.
_PATIENT_STEPS = 8
# Corrections of what a step holds at limits. After a few, columns change one by one.
_MAX_PIVOTS, _FREE_PIVOTS = 50, 6


class Start(IntEnum):
    """What a fit may rely on."""

    PREDICTOR = 0  # rows.u is some linear predictor
    ROWS = 1  # rows.q and rows.d belong to it
    MODEL = 2  # and so does theta, which is 0 outside the support


class Fit(NamedTuple):
    """The model that is fitted, and the point that bounds it."""

    rows: Rows
    hessian: Hessian
    theta: np.ndarray  # (n_columns,)
    gradient: np.ndarray  # (n_columns,)
    target: np.ndarray  # (n_rows,) working response of the least-squares start
    moved: Moved  # along the next step
    now: np.record  # is_moved: whether the point that bounds is; n_columns, intercept: of the step


@kernel
def fit_selection(data, fit, status, theta0, cutoff, tolerance, start):
    """Fit fit.theta on the bought predictors, starting from what is known.

    Stops when the bound reaches `cutoff` (the support cannot matter any more) or when it is within
    tolerance * objective of the objective. Returns (intercept, objective, bound), the bound being
    that of the model in fit.theta, moved by a step if fit.now says so (see `record_fit`).
    """
    theta, columns, rows = fit.theta, fit.hessian.columns, fit.rows
    n = list_columns(data, status, columns)
    if start == Start.PREDICTOR:
        theta0, _, _, _ = evaluate_rows(data, rows, theta0, 0.5)
    if start == Start.MODEL:
        q = rows.q
        mismatch = total_of(q[data.n_positive :]) - total_of(q[: data.n_positive])
        evaluate_columns(data, rows, columns, n, fit.gradient)
    else:
        theta[:] = 0.0
        theta0 = 0.0
        mismatch = _least_squares_slopes(data, fit, n)
    last_theta0 = theta0
    fit.now.is_moved = 0
    step0, _, found = _find_step(data, fit, n, mismatch)
    if found:
        theta0 = _take_step(data, fit, n, theta0, step0)
    elif start != Start.MODEL:
        return theta0, math.inf, -math.inf
    objective, bound = math.inf, -math.inf
    n_halvings = 0
    may_restart = True
    for step in range(_MAX_STEPS):
        # 1. Objective and bound of the current model.
        theta0, loss, entropy, mismatch = evaluate_rows(data, rows, theta0, 0.5)
        bound = entropy - evaluate_columns(data, rows, columns, n, fit.gradient)
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
            linear_predictor(data, theta, theta0, rows.u)
            continue
        # 4. Stop when the model is good enough, or as good as rounding lets it be.
        n_halvings = 0
        stalled = objective - new_objective <= 1e-15 * objective and step >= _PATIENT_STEPS
        objective = new_objective
        if objective - bound <= tolerance * objective or stalled:
            break
        # 5. The minimum of the quadratic model. The dual point moved along the step may say enough.
        step0, decrement, found = _find_step(data, fit, n, mismatch)
        if not found:
            break
        if objective - 0.5 * decrement >= cutoff or decrement <= tolerance * objective:
            moved_bound = _moved_bound(data, fit, n, step0)
            if moved_bound >= cutoff or objective - moved_bound <= tolerance * objective:
                fit.now.is_moved = 1
                fit.now.n_columns = n
                fit.now.intercept = step0
                return theta0, objective, moved_bound
        last_theta0 = theta0
        theta0 = _take_step(data, fit, n, theta0, step0)
    return theta0, objective, bound


@kernel
def record_fit(trace, fit, theta0):
    """Write down the point that bounds the last fit; return its number."""
    if fit.now.is_moved == 0:
        return record_point(trace, fit.theta, theta0)
    hessian, now = fit.hessian, fit.now
    return record_moved(
        trace, fit.theta, theta0, hessian.columns, hessian.step, now.n_columns, now.intercept
    )


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
def _least_squares_slopes(data, fit, n):
    """Fill the gradient of the weighted least-squares fit to the linear predictor, at theta = 0.

    The start need not be in the span of the columns: this makes the first step that of iteratively
    reweighted least squares. Returns the slope of the intercept.
    """
    target, rows, columns = fit.target, fit.rows, fit.hessian.columns
    q, d, u = rows.q, rows.d, rows.u
    for m in range(target.size):
        target[m] = q[m] - d[m] * u[m]
    for i in range(n):
        positive, negative = column_slopes(data, columns[i], target)
        fit.gradient[columns[i]] = positive + negative
    return total_of(target[data.n_positive :]) - total_of(target[: data.n_positive])


@kernel
def _find_step(data, fit, n, mismatch):
    """Fill hessian.step with the Newton step from fit.theta, whose gradient is in fit.gradient.

    Columns that end at a limit are listed last. Returns the step of the intercept, the Newton
    decrement (twice what the model falls by if no limit is met), and whether there is a step: there
    is none where all curvatures vanish or columns are dependent.
    """
    total = total_of(fit.rows.d)
    if not total > 0.0:
        return 0.0, 0.0, False
    hessian, theta, gradient = fit.hessian, fit.theta, fit.gradient
    columns, step, means = hessian.columns, hessian.step, hessian.mean
    n_moving = hold_outward(data, hessian, theta, gradient, n)
    for pivot in range(_MAX_PIVOTS):
        fill_hessian(data, hessian, fit.rows.d, FIRST, n, total)
        for i in range(n_moving):
            j = columns[i]
            step[i] = -(gradient[j] - mismatch * means[i] + data.ridge * theta[j])
            step[i] -= held_slope(hessian, n_moving, n, i)
        if not factorise(hessian.matrix, FIRST, n_moving):
            return 0.0, 0.0, False
        substitute(hessian.matrix, n_moving, step)
        n_moving, is_right = correct_held(
            data, hessian, theta, gradient, mismatch, n_moving, n, pivot >= _FREE_PIVOTS
        )
        if is_right:
            break
    step0 = -mismatch / total
    for i in range(n):
        step0 -= step[i] * means[i]
    decrement = -step0 * mismatch
    for i in range(n):
        decrement -= step[i] * (gradient[columns[i]] + data.ridge * theta[columns[i]])
    return step0, decrement, True


@kernel
def _take_step(data, fit, n, theta0, step0):
    """Add the step to the model; return the intercept."""
    columns, step = fit.hessian.columns, fit.hessian.step
    for i in range(n):
        j = columns[i]
        fit.theta[j] = within(data, j, fit.theta[j] + step[i])
    linear_predictor(data, fit.theta, theta0 + step0, fit.rows.u)
    return theta0 + step0


@kernel
def _moved_bound(data, fit, n, step0):
    """The bound of the dual point moved along the step."""
    columns, moved = fit.hessian.columns, fit.moved
    add_columns(data, columns, fit.hessian.step, n, step0, moved.t)
    bound = move_rows(data, fit.rows, moved)
    for i in range(n):
        bound -= value_of_slope(data, columns[i], dot(data.X[columns[i]], moved.q))
    return bound


@kernel
def _halve_step(data, fit, n, theta0, last_theta0):
    """Take back half of the last step; return the intercept."""
    columns, step = fit.hessian.columns, fit.hessian.step
    for i in range(n):
        j = columns[i]
        step[i] *= 0.5
        fit.theta[j] = within(data, j, fit.theta[j] - step[i])
    theta0 = 0.5 * (theta0 + last_theta0)
    linear_predictor(data, fit.theta, theta0, fit.rows.u)
    return theta0

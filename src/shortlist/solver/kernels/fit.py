"""The best model on a fixed support: Newton's method with Cholesky factors."""

import math
from enum import IntEnum

from .hessian import list_columns
from .interior import fit_hinge
from .layout import Loss, copy, linear_predictor
from .newton import find_step, halve_step, moved_bound, squares, take_step
from .point import column_slopes, evaluate_columns, evaluate_rows, mismatch_of
from .reference import kernel
from .trace import record_moved, record_point

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


@kernel
def fit_selection(data, fit, status, theta0, cutoff, tolerance, start):
    """Fit fit.theta on the bought predictors, starting from what is known.

    Stops when the bound reaches `cutoff` (the support cannot matter any more) or when it is within
    tolerance * objective of the objective. Returns (intercept, objective, bound), the bound being
    that of the model in fit.theta, moved by a step if fit.now says so (see `record_fit`).
    """
    theta, columns, rows = fit.theta, fit.hessian.columns, fit.rows
    n = list_columns(data, status, columns)
    fit.now.is_moved = 0
    if data.loss == Loss.HINGE:
        return fit_hinge(data, fit, n, cutoff, tolerance, tolerance >= COARSE)
    # How far the classes' dual mass may be out of balance before the intercept is moved alone: with
    # a piecewise quadratic loss that might raise the objective.
    balance = 0.5 if data.loss == Loss.LOGISTIC else 1.0
    if start == Start.PREDICTOR:
        theta0, _, _, _ = evaluate_rows(data, rows, theta0, balance)
    if start == Start.MODEL:
        mismatch = mismatch_of(data, rows.q)
        evaluate_columns(data, rows, columns, n, fit.gradient)
    else:
        theta[:] = 0.0
        theta0 = 0.0
        mismatch = _least_squares_slopes(data, fit, n)
    last_theta0 = theta0
    step0, _, found = find_step(data, fit, n, mismatch)
    if found:
        theta0 = take_step(data, fit, n, theta0, step0)
    elif start != Start.MODEL:
        return theta0, math.inf, -math.inf
    objective, bound = math.inf, -math.inf
    n_halvings = 0
    may_restart = True
    for step in range(_MAX_STEPS):
        # 1. Objective and bound of the current model.
        theta0, loss, entropy, mismatch = evaluate_rows(data, rows, theta0, balance)
        bound = entropy - evaluate_columns(data, rows, columns, n, fit.gradient)
        new_objective = loss + 0.5 * data.ridge * squares(theta, columns, n)
        if bound >= cutoff:
            return theta0, new_objective, bound
        # 2. Go half-way back if the last step overshot.
        if not new_objective <= objective * (1.0 + 1e-13):
            n_halvings += 1
            if n_halvings == _MAX_HALVINGS:
                break
            theta0 = halve_step(data, fit, n, theta0, last_theta0)
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
        step0, decrement, found = find_step(data, fit, n, mismatch)
        if not found:
            break
        if objective - 0.5 * decrement >= cutoff or decrement <= tolerance * objective:
            ahead = moved_bound(data, rows, fit.moved, columns, fit.hessian.step, n, step0, n)
            if ahead >= cutoff or objective - ahead <= tolerance * objective:
                fit.now.is_moved, fit.now.n_columns, fit.now.intercept = 1, n, step0
                return theta0, objective, ahead
        last_theta0 = theta0
        theta0 = take_step(data, fit, n, theta0, step0)
    return theta0, objective, bound


@kernel
def record_fit(trace, fit, theta0):
    """Write down the point that bounds the last fit; return its number."""
    if fit.now.is_moved == 0:
        return record_point(trace, fit.theta, theta0, fit.rows.kink.width)
    hessian, now = fit.hessian, fit.now
    return record_moved(
        trace, fit.theta, theta0, hessian.columns, hessian.step, now.n_columns, now.intercept,
        fit.rows.kink.width,
    )  # fmt: skip


@kernel
def start_from_null(data, fit):
    """Make the fit's point the model without coefficients; return its intercept."""
    fit.theta[:] = 0.0
    fit.rows.kink.width = data.width
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
    return mismatch_of(data, target)

"""A model on a fixed support, and Newton steps of it.

Each step is the minimum of the quadratic model within the limits of the coefficients.
"""

from typing import NamedTuple

from .cholesky import FIRST, factorise, substitute
from .fields import Array, Record
from .held import correct_held, held_slope, hold_outward, within
from .hessian import Hessian, fill_hessian, intercept_step
from .layout import add_columns, linear_predictor
from .point import Moved, Rows, move_rows, total_curvature, value_of_slope
from .reference import kernel
from .rows import dot

# Corrections of what a step holds at limits. After a few, columns change one by one.
_MAX_PIVOTS, _FREE_PIVOTS = 50, 6


class Fit(NamedTuple):
    """The model that is fitted, and the point that bounds it."""

    rows: Rows
    hessian: Hessian
    theta: Array("n_columns")
    gradient: Array("n_columns")
    target: Array("n_rows")  # working response of the least-squares start
    moved: Moved  # along the next step
    # is_moved: whether the point that bounds is; n_columns, intercept: of the step
    now: Record(is_moved=0, n_columns=0, intercept=0.0)


@kernel
def squares(theta, columns, n):
    """Return the sum of squares of the listed coefficients."""
    total = 0.0
    for i in range(n):
        total += theta[columns[i]] * theta[columns[i]]
    return total


@kernel
def find_step(data, fit, n, mismatch):
    """Fill hessian.step with the Newton step from fit.theta, whose gradient is in fit.gradient.

    Columns that end at a limit are listed last. Returns the step of the intercept, the Newton
    decrement (twice what the model falls by if no limit is met), and whether there is a step: there
    is none where all curvatures vanish or columns are dependent.
    """
    total = total_curvature(data, fit.rows.d)
    if not total > 0.0:
        return 0.0, 0.0, False
    hessian, theta, gradient = fit.hessian, fit.theta, fit.gradient
    columns, step = hessian.columns, hessian.step
    n_moving = hold_outward(data, hessian, theta, gradient, n)
    for pivot in range(_MAX_PIVOTS):
        fill_hessian(data, hessian, fit.rows.d, n, total)
        for i in range(n_moving):
            j = columns[i]
            step[i] = -(gradient[j] - mismatch * hessian.mean[i] + data.ridge * theta[j])
            step[i] -= held_slope(hessian, n_moving, n, i)
        if not factorise(hessian.matrix, FIRST, n_moving):
            return 0.0, 0.0, False
        substitute(hessian.matrix, n_moving, step)
        n_moving, is_right = correct_held(
            data, hessian, theta, gradient, mismatch, n_moving, n, pivot >= _FREE_PIVOTS
        )
        if is_right:
            break
    step0 = intercept_step(hessian, step, n, mismatch, total)
    decrement = -step0 * mismatch
    for i in range(n):
        decrement -= step[i] * (gradient[columns[i]] + data.ridge * theta[columns[i]])
    return step0, decrement, True


@kernel
def take_step(data, fit, n, theta0, step0):
    """Add the step to the model; return the intercept."""
    columns, step = fit.hessian.columns, fit.hessian.step
    for i in range(n):
        j = columns[i]
        fit.theta[j] = within(data, j, fit.theta[j] + step[i])
    linear_predictor(data, fit.theta, theta0 + step0, fit.rows.u)
    return theta0 + step0


@kernel
def moved_bound(data, rows, moved, columns, step, n_moving, step0, n):
    """The bound, on the first n listed columns, of the dual point moved along a step."""
    add_columns(data, columns, step, n_moving, step0, moved.t)
    bound = move_rows(data, rows, moved)
    for i in range(n):
        bound -= value_of_slope(data, columns[i], dot(data.X[columns[i]], moved.q))
    return bound


@kernel
def halve_step(data, fit, n, theta0, last_theta0):
    """Take back half of the last step; return the intercept."""
    columns, step = fit.hessian.columns, fit.hessian.step
    for i in range(n):
        j = columns[i]
        step[i] *= 0.5
        fit.theta[j] = within(data, j, fit.theta[j] - step[i])
    theta0 = 0.5 * (theta0 + last_theta0)
    linear_predictor(data, fit.theta, theta0, fit.rows.u)
    return theta0

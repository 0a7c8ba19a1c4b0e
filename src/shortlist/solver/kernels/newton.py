"""A model on a fixed support, and Newton steps of it."""

from typing import NamedTuple

import numpy as np

from .cholesky import FIRST, factorise, substitute
from .hessian import Hessian, fill_hessian
from .layout import Loss, linear_predictor
from .point import Moved, Rows
from .reference import kernel
from .rows import total_of


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
def squares(theta, columns, n):
    """Return the sum of squares of the listed coefficients."""
    total = 0.0
    for i in range(n):
        total += theta[columns[i]] * theta[columns[i]]
    return total


@kernel
def find_step(data, fit, n, mismatch):
    """Fill hessian.step with the Newton step from fit.theta, whose gradient is in fit.gradient.

    Returns the step of the intercept, the Newton decrement (twice what the model falls by), and
    whether there is a step: there is none where all curvatures vanish or columns are dependent.
    """
    total = total_of(fit.rows.d)
    if total == 0.0 and data.loss != Loss.LOGISTIC:
        total = data.null_objective  # every row is where its loss is linear: a first-order step
    if not total > 0.0:
        return 0.0, 0.0, False
    hessian, theta, gradient = fit.hessian, fit.theta, fit.gradient
    columns, step, means = hessian.columns, hessian.step, hessian.mean
    fill_hessian(data, hessian, fit.rows.d, FIRST, n, total)
    for i in range(n):
        j = columns[i]
        step[i] = -(gradient[j] - mismatch * means[i] + data.ridge * theta[j])
    if not factorise(hessian.matrix, FIRST, n):
        return 0.0, 0.0, False
    substitute(hessian.matrix, n, step)
    step0 = -mismatch / total
    for i in range(n):
        step0 -= step[i] * means[i]
    decrement = -step0 * mismatch
    for i in range(n):
        decrement -= step[i] * (gradient[columns[i]] + data.ridge * theta[columns[i]])
    return step0, decrement, True


@kernel
def take_step(data, fit, n, theta0, step0):
    """Add the step to the model; return the intercept."""
    columns, step = fit.hessian.columns, fit.hessian.step
    for i in range(n):
        fit.theta[columns[i]] += step[i]
    linear_predictor(data, fit.theta, theta0 + step0, fit.rows.u)
    return theta0 + step0

"""From a primal point to a dual one: the a of a model, exactly feasible, and its bound's parts."""

from typing import NamedTuple

import numpy as np

from .layout import OUT
from .reference import kernel
from .rows import dot, exp_minus_abs, logistic_rows

_MAX_STEP = 4.0


class Rows(NamedTuple):
    """A point as seen by the rows, filled by `evaluate_rows`."""

    u: np.ndarray  # linear predictor
    q: np.ndarray  # w a
    d: np.ndarray  # w a (1 - a)
    rho: np.record  # positive, negative: factors that balance the classes' dual mass
    decay: np.ndarray
    scratch: np.ndarray


@kernel
def evaluate_rows(data, rows, theta0, tolerance):
    """Evaluate the rows at the linear predictor in rows.u, and make a dual point of them.

    Fills rows.q = w a and rows.d. The intercept is moved by Newton steps until the dual masses of
    the two classes agree to the relative `tolerance`. What mismatch is left is removed by scaling
    the a of the heavier class down by rho. The entropy follows from H(rho a) >= rho H(a), which
    concavity and H(0) = 0 give.

    Returns the intercept, the loss, the entropy sum_m w_m H(rho a_m) (rounded down as said) and the
    loss's derivative in the intercept.
    """
    n_positive = data.n_positive
    u, q, d, w, decay = rows.u, rows.q, rows.d, data.w, rows.decay
    for trial in range(8):
        exp_minus_abs(u, decay, rows.scratch)
        loss_p, entropy_p, mass_p, curvature_p = logistic_rows(
            u[:n_positive], w[:n_positive], decay[:n_positive], q[:n_positive], d[:n_positive]
        )
        loss_n, entropy_n, mass_n, curvature_n = logistic_rows(
            u[n_positive:], w[n_positive:], decay[n_positive:], q[n_positive:], d[n_positive:]
        )
        mismatch = mass_n - mass_p
        if abs(mismatch) <= tolerance * (mass_n + mass_p) or trial == 7:
            break
        curvature = curvature_p + curvature_n
        step = -mismatch / curvature if curvature > 0.0 else 0.0
        step = min(max(step, -_MAX_STEP), _MAX_STEP)
        theta0 += step
        for m in range(n_positive):
            u[m] -= step
        for m in range(n_positive, u.size):
            u[m] += step
    rows.rho.positive = mass_n / mass_p if mass_p > mass_n else 1.0
    rows.rho.negative = mass_p / mass_n if mass_n > mass_p else 1.0
    entropy = rows.rho.positive * entropy_p + rows.rho.negative * entropy_n
    return theta0, loss_p + loss_n, entropy, mismatch


@kernel
def column_slopes(data, j, q):
    """Inner products of column j with q over the positive and over the negative rows."""
    x, n_positive = data.X[j], data.n_positive
    return dot(x[:n_positive], q[:n_positive]), dot(x[n_positive:], q[n_positive:])


@kernel
def evaluate_predictors(data, rows, status, gradient, v):
    """Fill gradient and v_g = ||X_g' (w a y)||^2 / (2 ridge) of all predictors that are not out."""
    start, q = data.start, rows.q
    for g in range(status.size):
        if status[g] != OUT:
            total = 0.0
            for j in range(start[g], start[g + 1]):
                positive, negative = column_slopes(data, j, q)
                gradient[j] = positive + negative
                slope = rows.rho.positive * positive + rows.rho.negative * negative
                total += slope * slope
            v[g] = total / (2.0 * data.ridge)


@kernel
def evaluate_columns(data, rows, columns, n, gradient):
    """Fill the gradient of columns[:n]; return the sum of their shares of v."""
    q = rows.q
    total = 0.0
    for i in range(n):
        j = columns[i]
        positive, negative = column_slopes(data, j, q)
        gradient[j] = positive + negative
        slope = rows.rho.positive * positive + rows.rho.negative * negative
        total += slope * slope
    return total / (2.0 * data.ridge)

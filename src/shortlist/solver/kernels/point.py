"""Dual points of models: the a of a primal point, exactly feasible, and the parts of its bound."""

from typing import NamedTuple

from .cholesky import FIRST
from .fields import Array, Record
from .hinge import (
    hinge_rows,
    moved_hinge_rows,
    moved_squared_hinge_rows,
    squared_hinge_rows,
)
from .layout import OUT, Loss
from .reference import kernel
from .rows import clipped_rows, dot, exp_minus_abs, logistic_rows, moved_rows, total_of

_MAX_STEP = 4.0
BY_CLASS = Record(positive=1.0, negative=1.0)


class Rows(NamedTuple):
    """A point as seen by the rows, filled by `evaluate_rows`."""

    u: Array("n_rows")  # linear predictor
    a: Array("n_rows")  # derivative of the loss at u
    b: Array("n_rows")  # 1 - a, of the logistic loss alone
    d: Array("n_rows")  # w times the curvature of the loss
    q: Array("n_rows")  # w a
    rho: BY_CLASS  # factors that balance the dual mass of the classes
    entropy: BY_CLASS  # sums of w H(a) over the classes
    kink: Record(width=0.0)  # of the band on which the hinge is smoothed
    decay: Array("n_rows")
    scratch: Array("n_rows")


@kernel
def evaluate_rows(data, rows, theta0, tolerance):
    """Evaluate the rows at the linear predictor in rows.u, and make a dual point of them.

    The intercept is moved by Newton steps until the dual masses of the two classes agree to the
    relative `tolerance`. What mismatch is left is removed by `balance`.

    Returns the intercept, the loss, the entropy sum_m w_m H(rho a_m) (rounded down as said there)
    and the loss's derivative in the intercept.
    """
    n, u, entropy = data.n_positive, rows.u, rows.entropy
    for trial in range(8):
        loss_p, entropy.positive, mass_p, curvature_p = _evaluate_class(data, rows, FIRST, n)
        loss_n, entropy.negative, mass_n, curvature_n = _evaluate_class(data, rows, n, u.size)
        mismatch = mass_n - mass_p
        if abs(mismatch) <= tolerance * (mass_n + mass_p) or trial == 7:
            break
        curvature = curvature_p + curvature_n
        if not curvature > 0.0:
            break
        step = -mismatch / curvature
        step = min(max(step, -_MAX_STEP), _MAX_STEP)
        theta0 += step
        for m in range(n):
            u[m] -= step
        for m in range(n, u.size):
            u[m] += step
    total = balance(rows.rho, mass_p, mass_n, entropy.positive, entropy.negative)
    return theta0, loss_p + loss_n, total, mismatch


@kernel
def _evaluate_class(data, rows, first, last):
    """Evaluate the rows of a class; return the sums of w loss, w H(a), q and d."""
    u, w = rows.u[first:last], data.w[first:last]
    a, q, d = rows.a[first:last], rows.q[first:last], rows.d[first:last]
    if data.loss == Loss.LOGISTIC:
        decay = rows.decay[first:last]
        exp_minus_abs(u, decay, rows.scratch[first:last])
        return logistic_rows(u, w, decay, a, rows.b[first:last], q, d)
    if data.loss == Loss.SQUARED_HINGE:
        return squared_hinge_rows(u, w, a, q, d)
    loss, mass, curvature = hinge_rows(u, w, rows.kink.width, a, q, d)
    return loss, mass, mass, curvature


@kernel
def balance(rho, mass_p, mass_n, entropy_p, entropy_n):
    """Scale the a of the heavier class down; return the entropy.

    It follows from H(rho a) >= rho H(a), which concavity and H(0) = 0 give.
    """
    rho.positive = mass_n / mass_p if mass_p > mass_n else 1.0
    rho.negative = mass_p / mass_n if mass_n > mass_p else 1.0
    return rho.positive * entropy_p + rho.negative * entropy_n


class Moved(NamedTuple):
    """A dual point that was moved along a step, filled by `move_rows`."""

    t: Array("n_rows")  # what the step adds to u
    q: Array("n_rows")  # w a', balanced
    rho: BY_CLASS  # the factors that did it


@kernel
def move_rows(data, rows, moved):
    """Move the dual point of `rows` along moved.t: a' = a + curvature t, where that is allowed.

    If t is the change of u that a Newton step makes, the slopes of a' are those of the model at
    the end of the step, and its bound is exact to second order. The bound holds for every t.
    Returns the entropy, rounded down.
    """
    n, q = data.n_positive, moved.q
    entropy_p, mass_p = _move_class(data, rows, moved, FIRST, n, rows.entropy.positive)
    entropy_n, mass_n = _move_class(data, rows, moved, n, q.size, rows.entropy.negative)
    entropy = balance(moved.rho, mass_p, mass_n, entropy_p, entropy_n)
    for m in range(n):
        q[m] *= moved.rho.positive
    for m in range(n, q.size):
        q[m] *= moved.rho.negative
    return entropy


@kernel
def _move_class(data, rows, moved, first, last, entropy):
    """Move the rows of a class, whose entropy was this; return the new one and the sum of q."""
    a, w = rows.a[first:last], data.w[first:last]
    t, q = moved.t[first:last], moved.q[first:last]
    if data.loss == Loss.LOGISTIC:
        u, b = rows.u[first:last], rows.b[first:last]
        lost, mass, n_outside = moved_rows(u, w, a, b, t, q)
        if n_outside > 0.0:
            lost, mass = clipped_rows(u, w, a, b, t, q)
        return entropy - lost, mass
    if data.loss == Loss.SQUARED_HINGE:
        return moved_squared_hinge_rows(w, a, t, q)
    mass = moved_hinge_rows(w, rows.kink.width, a, t, q)
    return mass, mass


@kernel
def total_curvature(data, d):
    """Return the sum of d; a number of its scale if every row is where its loss is linear."""
    total = total_of(d)
    return data.null_objective if total == 0.0 and data.loss != Loss.LOGISTIC else total


@kernel
def mismatch_of(data, q):
    """The sum of q over the negative rows less that over the positive ones.

    If q = w a, that is the derivative of the loss in the intercept.
    """
    return total_of(q[data.n_positive :]) - total_of(q[: data.n_positive])


@kernel
def column_slopes(data, j, q):
    """Inner products of column j with q over the positive and over the negative rows."""
    x, n_positive = data.X[j], data.n_positive
    return dot(x[:n_positive], q[:n_positive]), dot(x[n_positive:], q[n_positive:])


@kernel
def value_of_slope(data, j, slope):
    """The share of column j in v: what it can take from the bound, at most.

    That is -min over theta_j of slope theta_j + ridge/2 theta_j^2, or slope^2 / (2 ridge) where the
    coefficient has no limits.
    """
    theta = min(max(-slope / data.ridge, data.lower[j]), data.upper[j])
    return -theta * (slope + 0.5 * data.ridge * theta)


@kernel
def predictor_value(data, q, g):
    """v_g at a balanced dual point."""
    total = 0.0
    for j in range(data.start[g], data.start[g + 1]):
        total += value_of_slope(data, j, dot(data.X[j], q))
    return total


@kernel
def evaluate_predictors(data, rows, status, gradient, v):
    """Fill gradient and v_g, the sum of the values of its columns, of all that are not out."""
    for g in range(status.size):
        if status[g] != OUT:
            v[g] = 0.0
            for j in range(data.start[g], data.start[g + 1]):
                v[g] += _evaluate_column(data, rows, j, gradient)


@kernel
def evaluate_columns(data, rows, columns, n, gradient):
    """Fill the gradient of columns[:n]; return the sum of their values."""
    total = 0.0
    for i in range(n):
        total += _evaluate_column(data, rows, columns[i], gradient)
    return total


@kernel
def _evaluate_column(data, rows, j, gradient):
    """Fill the gradient of a column; return its value."""
    positive, negative = column_slopes(data, j, rows.q)
    gradient[j] = positive + negative
    rho = rows.rho
    return value_of_slope(data, j, rho.positive * positive + rho.negative * negative)

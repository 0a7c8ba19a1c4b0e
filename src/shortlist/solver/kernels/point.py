"""From a primal point to a dual one: the a of a model, exactly feasible, and its bound's parts."""

from typing import NamedTuple

import numpy as np

from .layout import OUT
from .reference import kernel
from .rows import clipped_rows, dot, exp_minus_abs, logistic_rows, moved_rows

_MAX_STEP = 4.0


class Rows(NamedTuple):
    """A point as seen by the rows, filled by `evaluate_rows`."""

    u: np.ndarray  # linear predictor
    a: np.ndarray  # sigmoid of u
    b: np.ndarray  # 1 - a
    d: np.ndarray  # w a b
    q: np.ndarray  # w a
    rho: np.record  # positive, negative: factors that balance the dual mass of the classes
    entropy: np.record  # positive, negative: sums of w H(a) over the classes
    decay: np.ndarray
    scratch: np.ndarray


@kernel
def evaluate_rows(data, rows, theta0, tolerance):
    """Evaluate the rows at the linear predictor in rows.u, and make a dual point of them.

    The intercept is moved by Newton steps until the dual masses of the two classes agree to the
    relative `tolerance`. What mismatch is left is removed by `balance`.

    Returns the intercept, the loss, the entropy sum_m w_m H(rho a_m) (rounded down as said there)
    and the loss's derivative in the intercept.
    """
    n = data.n_positive
    u, a, b, q, d = rows.u, rows.a, rows.b, rows.q, rows.d
    w, decay, entropy = data.w, rows.decay, rows.entropy
    for trial in range(8):
        exp_minus_abs(u, decay, rows.scratch)
        loss_p, entropy.positive, mass_p, curvature_p = logistic_rows(
            u[:n], w[:n], decay[:n], a[:n], b[:n], q[:n], d[:n]
        )
        loss_n, entropy.negative, mass_n, curvature_n = logistic_rows(
            u[n:], w[n:], decay[n:], a[n:], b[n:], q[n:], d[n:]
        )
        mismatch = mass_n - mass_p
        if abs(mismatch) <= tolerance * (mass_n + mass_p) or trial == 7:
            break
        curvature = curvature_p + curvature_n
        step = -mismatch / curvature if curvature > 0.0 else 0.0
        step = min(max(step, -_MAX_STEP), _MAX_STEP)
        theta0 += step
        for m in range(n):
            u[m] -= step
        for m in range(n, u.size):
            u[m] += step
    total = _balance(rows.rho, mass_p, mass_n, entropy.positive, entropy.negative)
    return theta0, loss_p + loss_n, total, mismatch


@kernel
def _balance(rho, mass_p, mass_n, entropy_p, entropy_n):
    """Scale the a of the heavier class down; return the entropy.

    It follows from H(rho a) >= rho H(a), which concavity and H(0) = 0 give.
    """
    rho.positive = mass_n / mass_p if mass_p > mass_n else 1.0
    rho.negative = mass_p / mass_n if mass_n > mass_p else 1.0
    return rho.positive * entropy_p + rho.negative * entropy_n


class Moved(NamedTuple):
    """A dual point that was moved along a step, filled by `move_rows`."""

    t: np.ndarray  # (n_rows,) what the step adds to u
    q: np.ndarray  # (n_rows,) w a', balanced
    rho: np.record  # positive, negative: the factors that did it


@kernel
def move_rows(data, rows, moved):
    """Move the dual point of `rows` along moved.t: a' = a + a b t, clipped to [0, 1].

    If t is the change of u that a Newton step makes, the slopes of a' are those of the model at
    the end of the step, and its bound is exact to second order. The bound holds for every t.
    Returns the entropy, rounded down.
    """
    n = data.n_positive
    u, a, b, w, t, q = rows.u, rows.a, rows.b, data.w, moved.t, moved.q
    lost_p, mass_p, n_outside = moved_rows(u[:n], w[:n], a[:n], b[:n], t[:n], q[:n])
    if n_outside > 0.0:
        lost_p, mass_p = clipped_rows(u[:n], w[:n], a[:n], b[:n], t[:n], q[:n])
    lost_n, mass_n, n_outside = moved_rows(u[n:], w[n:], a[n:], b[n:], t[n:], q[n:])
    if n_outside > 0.0:
        lost_n, mass_n = clipped_rows(u[n:], w[n:], a[n:], b[n:], t[n:], q[n:])
    entropy = _balance(
        moved.rho, mass_p, mass_n, rows.entropy.positive - lost_p, rows.entropy.negative - lost_n
    )
    for m in range(n):
        q[m] *= moved.rho.positive
    for m in range(n, q.size):
        q[m] *= moved.rho.negative
    return entropy


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
    start, q, rho = data.start, rows.q, rows.rho
    for g in range(status.size):
        if status[g] != OUT:
            v[g] = 0.0
            for j in range(start[g], start[g + 1]):
                positive, negative = column_slopes(data, j, q)
                gradient[j] = positive + negative
                v[g] += value_of_slope(data, j, rho.positive * positive + rho.negative * negative)


@kernel
def evaluate_columns(data, rows, columns, n, gradient):
    """Fill the gradient of columns[:n]; return the sum of their values."""
    q, rho = rows.q, rows.rho
    total = 0.0
    for i in range(n):
        j = columns[i]
        positive, negative = column_slopes(data, j, q)
        gradient[j] = positive + negative
        total += value_of_slope(data, j, rho.positive * positive + rho.negative * negative)
    return total

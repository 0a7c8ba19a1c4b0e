"""From a primal point to a dual one: the a of a model, exactly feasible, and its bound's parts."""

import math

from numba import njit

from .layout import NULL_OBJECTIVE, OUT, linear_predictor
from .rows import dot, exp_minus_abs, logistic_rows, total_of

_MAX_STEP = 4.0


@njit(cache=True, error_model="numpy")
def evaluate_rows(data, work, theta0, tolerance):
    """Evaluate the rows at the linear predictor in work.u, and make a dual point of them.

    Fills work.q = w a and work.d. The intercept is moved by Newton steps until the dual masses of
    the two classes agree to the relative `tolerance`. What mismatch is left is removed by scaling
    the a of the heavier class down by rho: work.rho holds the two classes' factors. The entropy
    follows from H(rho a) >= rho H(a), which concavity and H(0) = 0 give.

    Returns the intercept, the loss, the entropy sum_m w_m H(rho a_m) (rounded down as said) and the
    loss's derivative in the intercept.
    """
    n_positive = data.n_positive
    u, q, d, w = work.u, work.q, work.d, data.w
    for trial in range(8):
        exp_minus_abs(u, work.decay, work.scratch)
        loss_p, entropy_p, mass_p, curvature_p = logistic_rows(
            u[:n_positive], w[:n_positive], work.decay[:n_positive], q[:n_positive], d[:n_positive]
        )
        loss_n, entropy_n, mass_n, curvature_n = logistic_rows(
            u[n_positive:], w[n_positive:], work.decay[n_positive:], q[n_positive:], d[n_positive:]
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
    work.rho[0] = 1.0
    work.rho[1] = 1.0
    if mass_p > mass_n:
        work.rho[0] = mass_n / mass_p
    elif mass_n > mass_p:
        work.rho[1] = mass_p / mass_n
    entropy = work.rho[0] * entropy_p + work.rho[1] * entropy_n
    return theta0, loss_p + loss_n, entropy, mismatch


# The hot loops take plain arrays: passing the whole scratch space costs more than a short column.
@njit(cache=True, error_model="numpy")
def column_slopes(X, j, q, n_positive):
    """Inner products of column j with q over the positive and over the negative rows."""
    x = X[j]
    return dot(x[:n_positive], q[:n_positive]), dot(x[n_positive:], q[n_positive:])


@njit(cache=True, error_model="numpy")
def evaluate_predictors(X, q, n_positive, rho, ridge, start, status, gradient, v):
    """Fill gradient and v_g = ||X_g' (w a y)||^2 / (2 ridge) of all predictors that are not out."""
    for g in range(status.size):
        if status[g] != OUT:
            total = 0.0
            for j in range(start[g], start[g + 1]):
                positive, negative = column_slopes(X, j, q, n_positive)
                gradient[j] = positive + negative
                slope = rho[0] * positive + rho[1] * negative
                total += slope * slope
            v[g] = total / (2.0 * ridge)


@njit(cache=True, error_model="numpy")
def evaluate_columns(X, q, n_positive, rho, ridge, columns, n, gradient):
    """Fill the gradient of columns[:n]; return the sum of their shares of v."""
    total = 0.0
    for i in range(n):
        j = columns[i]
        positive, negative = column_slopes(X, j, q, n_positive)
        gradient[j] = positive + negative
        slope = rho[0] * positive + rho[1] * negative
        total += slope * slope
    return total / (2.0 * ridge)


@njit(cache=True, error_model="numpy")
def to_null_model(data, work):
    """Go to the model without coefficients, and return its intercept, which is known."""
    positive = total_of(data.w[: data.n_positive])
    theta0 = math.log(positive / total_of(data.w[data.n_positive :]))
    work.theta[:] = 0.0
    linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
    _, work.scalar[NULL_OBJECTIVE], _, _ = evaluate_rows(data, work, theta0, 1.0)
    return theta0

"""The hinge on a fixed support: a primal-dual interior-point method.

With s = 1 + u, a slack x >= max(s, 0) for each row and p = x - s, the optimum has a p = 0 and
(1 - a) x = 0. The method follows the points at which both are mu, towards mu = 0: predictor and
corrector steps after Mehrotra (SIAM Journal on Optimization, 1992), about ten whatever the data.

Its a is not that of a model, which is all that a proof records. So the end is a Newton step on a
narrow band (see `hinge`) whose rows are those with a between 0 and 1.
"""

import math

import numpy as np

from .cholesky import FIRST, factorise, substitute
from .hessian import fill_hessian, intercept_step
from .layout import add_columns, linear_predictor
from .newton import find_step, halve_step, squares, take_step
from .point import balance, column_slopes, evaluate_columns, evaluate_rows, mismatch_of
from .reference import inlined, kernel, sum_kernel
from .rows import total_of

# Relative accuracy of fits. A band narrow enough for more is so narrow that the a of a model
# depends on the last digits of its coefficients, which no proof could rest on.
FINEST = 1e-7
_NARROWEST = 1e-7
# The width of a band like mu, relative to it: a has the same slope in the middle of both.
_WIDTH = 8.0
_MAX_STEPS = 60
# How far a step goes towards the first row that reaches a limit.
_SHARE = 0.995
# The least gap that is of use to the end, relative to the accuracy of fits.
_CLOSE = 1e-3
# A step that lowers mu by less is the last: rounding does not let it be lower.
_PROGRESS = 0.99
_MAX_CORRECTIONS, _MAX_HALVINGS = 12, 20
# Relative gaps that will do for a coarse fit, and when nothing better is to be had.
_COARSE_GAP, _LAST_GAP = 0.1, 5e-7
# Where many rows meet at the kink, a wider band may succeed where the narrowest has not; that one
# is the last resort, too.
_MOST_ENDS, _WIDENING = 4, 10.0


@kernel
def fit_hinge(data, fit, n, cutoff, tolerance, is_coarse):
    """Fit fit.theta on the n listed columns; returns what `fit_selection` does.

    A coarse fit ends on a wide band, whose curvatures say something about other columns; those of
    a narrow one do not.
    """
    rows, theta, columns = fit.rows, fit.theta, fit.hessian.columns
    u, q, w = rows.u, rows.q, data.w
    a, x, p = rows.b, rows.decay, rows.scratch
    da, dx, dp = fit.target, fit.moved.t, fit.moved.q
    tolerance = max(tolerance, FINEST)
    theta[:] = 0.0
    theta0 = 0.0
    a[:] = 0.5
    x[:] = 2.0
    p[:] = 1.0
    da[:] = 0.0
    dx[:] = 0.0
    dp[:] = 0.0
    held = np.empty(n)
    weight = total_of(w)
    last_mu = math.inf
    for step in range(_MAX_STEPS):
        # 1. Objective and bound; a model with that bound, if it is good enough.
        linear_predictor(data, theta, theta0, u)
        objective = _hinge(u, w) + 0.5 * data.ridge * squares(theta, columns, n)
        n_positive = data.n_positive
        mass_p = _weigh(a[:n_positive], w[:n_positive], q[:n_positive])
        mass_n = _weigh(a[n_positive:], w[n_positive:], q[n_positive:])
        entropy = balance(rows.rho, mass_p, mass_n, mass_p, mass_n)
        bound = entropy - evaluate_columns(data, rows, columns, n, fit.gradient)
        mu = _complementarity(w, a, x, p, da, dx, dp, 0.0) / (2.0 * weight)
        gap = objective - bound
        is_near = gap <= tolerance * objective or (is_coarse and _WIDTH * mu <= data.width)
        is_last = (
            step == _MAX_STEPS - 1
            or not gap > _CLOSE * FINEST * objective
            or (is_near and mu > _PROGRESS * last_mu)
        )
        last_mu = mu
        if bound >= cutoff or is_near or is_last:
            for i in range(n):
                held[i] = theta[columns[i]]
            narrowest = max(_WIDTH * mu, _NARROWEST)
            enough = _COARSE_GAP if is_coarse else tolerance
            if is_last:
                enough = max(enough, _LAST_GAP)
            for end in range(_MOST_ENDS if is_last else 1):
                width = narrowest * _WIDENING**end if end < _MOST_ENDS - 1 else narrowest
                last0, score, proven = _end(data, fit, n, theta0, width, cutoff, tolerance)
                is_enough = proven >= cutoff or score - proven <= enough * score
                if is_enough or (is_last and end == _MOST_ENDS - 1):
                    return last0, score, proven
                for i in range(n):
                    theta[columns[i]] = held[i]
                linear_predictor(data, theta, theta0, u)
        # 2. The step to mu = 0 says how far mu can be lowered; then the step to that.
        _linearise(w, a, x, p, 0.0, 0.0, da, dx, dp, q, rows.d)
        total = total_of(rows.d)
        fill_hessian(data, fit.hessian, rows.d, n, total)
        step0 = math.nan
        if factorise(fit.hessian.matrix, FIRST, n):
            step0 = _direction(data, fit, n, total, 0.0, 0.0)
        if not abs(step0) < math.inf:
            return _end(data, fit, n, theta0, _NARROWEST, cutoff, tolerance)
        length = _longest(a, x, p, da, dx, dp)
        ahead = _complementarity(w, a, x, p, da, dx, dp, length) / (2.0 * weight)
        goal = mu * (ahead / mu) ** 3
        _linearise(w, a, x, p, goal, 1.0, da, dx, dp, q, rows.d)
        step0 = _direction(data, fit, n, total, goal, 1.0)
        length = min(1.0, _SHARE * _longest(a, x, p, da, dx, dp))
        _advance(a, x, p, da, dx, dp, length)
        for i in range(n):
            theta[columns[i]] += length * fit.hessian.step[i]
        theta0 += length * step0
    return theta0, math.inf, -math.inf


@sum_kernel
def _hinge(u, w):
    total = 0.0
    for m in range(u.size):
        total += w[m] * max(1.0 + u[m], 0.0)
    return total


@sum_kernel
def _weigh(a, w, q):
    """Fill q = w a; return its sum."""
    total = 0.0
    for m in range(a.size):
        q[m] = w[m] * a[m]
        total += q[m]
    return total


@sum_kernel
def _complementarity(w, a, x, p, da, dx, dp, length):
    """Twice mu, times the weights, at the end of a step of this length."""
    total = 0.0
    for m in range(w.size):
        b = a[m] + length * da[m]
        total += w[m] * (b * (p[m] + length * dp[m]) + (1.0 - b) * (x[m] + length * dx[m]))
    return total


@sum_kernel
def _linearise(w, a, x, p, mu, second, da, dx, dp, q, d):
    """Fill q and d with w (a + e) and w c, where the step changes a by c ds + e.

    That follows from a dp + p da = mu - a p and (1 - a) dx - x da = mu - (1 - a) x, with
    dp = dx - ds. With second = 1 the products of the last step are taken off the right-hand sides.
    """
    for m in range(w.size):
        b = 1.0 - a[m]
        one = mu - a[m] * p[m] - second * da[m] * dp[m]
        other = mu - b * x[m] + second * da[m] * dx[m]
        scale = w[m] / (b * p[m] + a[m] * x[m])
        d[m] = scale * a[m] * b
        q[m] = w[m] * a[m] + scale * (b * one - a[m] * other)


@sum_kernel
def _change(a, x, p, mu, second, ds, da, dx, dp):
    """Fill the changes of a, x and p, given that of s."""
    for m in range(a.size):
        b = 1.0 - a[m]
        one = mu - a[m] * p[m] - second * da[m] * dp[m]
        other = mu - b * x[m] + second * da[m] * dx[m]
        # Not from w (a + e), whose rounding would be that of a.
        da[m] = (a[m] * b * ds[m] + b * one - a[m] * other) / (b * p[m] + a[m] * x[m])
        dx[m] = (other + x[m] * da[m]) / b
        dp[m] = dx[m] - ds[m]


@inlined
def _direction(data, fit, n, total, mu, second):
    """Fill hessian.step and the changes of the rows; return the step of the intercept."""
    rows, hessian, theta = fit.rows, fit.hessian, fit.theta
    columns, step, q = hessian.columns, hessian.step, rows.q
    mismatch = mismatch_of(data, q)
    for i in range(n):
        positive, negative = column_slopes(data, columns[i], q)
        slope = positive + negative - mismatch * hessian.mean[i]
        step[i] = -(slope + data.ridge * theta[columns[i]])
    substitute(hessian.matrix, n, step)
    step0 = intercept_step(hessian, step, n, mismatch, total)
    add_columns(data, columns, step, n, step0, rows.a)
    _change(
        rows.b, rows.decay, rows.scratch, mu, second, rows.a, fit.target, fit.moved.t, fit.moved.q
    )
    return step0


@kernel
def _longest(a, x, p, da, dx, dp):
    """The share of the step at which the first a, 1 - a, x or p reaches 0, at most 1."""
    ratio = 1.0
    for m in range(a.size):
        ratio = max(ratio, -da[m] / a[m], da[m] / (1.0 - a[m]), -dx[m] / x[m], -dp[m] / p[m])
    return 1.0 / ratio


@kernel
def _advance(a, x, p, da, dx, dp, length):
    for m in range(a.size):
        a[m] += length * da[m]
        x[m] += length * dx[m]
        p[m] += length * dp[m]


@kernel
def _end(data, fit, n, theta0, width, cutoff, tolerance):
    """Make fit.theta the optimum on a band of this width; returns as `fit_selection`.

    The rows on it are those of which neither a nor 1 - a is going to 0, by what goes with them.
    """
    rows, theta, columns = fit.rows, fit.theta, fit.hessian.columns
    rows.kink.width = width
    _choose_band(data.w, rows.u, rows.b, rows.decay, rows.scratch, width, rows.q, rows.d)
    evaluate_columns(data, rows, columns, n, fit.gradient)
    mismatch = mismatch_of(data, rows.q)
    smoothed, objective, bound = math.inf, math.inf, -math.inf
    step0, _, found = find_step(data, fit, n, mismatch)
    for _ in range(_MAX_CORRECTIONS):
        if not found:
            break
        last0 = theta0
        theta0 = take_step(data, fit, n, theta0, step0)
        for _ in range(_MAX_HALVINGS):
            theta0, loss, entropy, mismatch = evaluate_rows(data, rows, theta0, 1.0)
            penalty = 0.5 * data.ridge * squares(theta, columns, n)
            if loss + penalty <= smoothed:
                break
            theta0 = halve_step(data, fit, n, theta0, last0)
        smoothed = loss + penalty
        objective = _hinge(rows.u, data.w) + penalty
        bound = entropy - evaluate_columns(data, rows, columns, n, fit.gradient)
        if bound >= cutoff or objective - bound <= tolerance * objective:
            break
        step0, _, found = find_step(data, fit, n, mismatch)
    return theta0, objective, bound


@kernel
def _choose_band(w, u, a, x, p, width, q, d):
    """Fill q and d as if the rows were on the band, or beyond it, that belong there."""
    for m in range(w.size):
        on_band = a[m] > p[m] and 1.0 - a[m] > x[m]
        d[m] = w[m] / width if on_band else 0.0
        q[m] = w[m] * (1.0 + u[m]) / width if on_band else (w[m] if a[m] > 0.5 else 0.0)

"""The hinge with a ridge, on given columns, in numpy: a primal-dual interior-point method.

In each row the slack x is at least 0 and at least s = 1 - margin; p = x - s. At the optimum
a p = 0 and (1 - a) x = 0, and the method follows the points at which both are mu, to mu = 0.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..arguments import Float

_MAX_STEPS = 100
_PRECISE = 1e-12  # of the complementarity, relative to the objective
_SHARE = 0.995


def fit_hinge(
    X: Float, signs: Float, weights: Float, ridge: float, tolerance: float = _PRECISE
) -> tuple[Float, Float]:
    """Return the coefficients with the intercept as last entry, and the a of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.backends.hinge_fit import fit_hinge
    >>> beta, a = fit_hinge(
    ...     np.array([[-2.0], [2.0]]), np.array([-1.0, 1.0]), np.ones(2), ridge=0.1
    ... )
    >>> beta.round(6).tolist(), a.round(6).tolist()
    ([0.5, 0.0], [0.0125, 0.0125])
    """
    n_rows, n_columns = X.shape
    Z = -signs[:, np.newaxis] * np.column_stack([X, np.ones(n_rows)])  # margins are -Z beta
    penalty = np.append(np.full(n_columns, ridge), 0.0)
    beta, a = np.zeros(n_columns + 1), np.full(n_rows, 0.5)
    x, p = np.full(n_rows, 2.0), np.ones(n_rows)
    for _ in range(_MAX_STEPS):
        left = weights @ (a * p + (1 - a) * x)
        objective = weights @ np.maximum(1.0 + Z @ beta, 0.0) + 0.5 * penalty @ beta**2
        # Rounding may put an a on its end, from which there is no step inwards.
        if left <= tolerance * objective or not 0.0 < a.min() <= a.max() < 1.0:
            break
        rows = (a, x, p)
        curvature = a * (1 - a) / ((1 - a) * p + a * x)
        hessian = (Z.T * (weights * curvature)) @ Z + np.diag(penalty)
        solve = partial(_direction, Z, weights, hessian, penalty * beta, rows)
        _, da, dx, dp = solve(-a * p, -(1 - a) * x)
        length = _length(*rows, da, dx, dp)
        ahead = (a + length * da) * (p + length * dp) + (1 - a - length * da) * (x + length * dx)
        goal = (weights @ ahead / left) ** 3 * left / (2.0 * weights.sum())
        step, da, dx, dp = solve(goal - a * p - da * dp, goal - (1 - a) * x + da * dx)
        length = min(1.0, _SHARE * _length(a, x, p, da, dx, dp))
        if not length * np.abs(step).max() > 0.0:
            break
        beta, a = beta + length * step, a + length * da
        x, p = x + length * dx, p + length * dp
    return beta, a


def _direction(
    Z: Float,
    weights: Float,
    hessian: Float,
    pull: Float,
    rows: tuple[Float, Float, Float],
    one: Float,
    other: Float,
) -> tuple[Float, Float, Float, Float]:
    """Return the changes of beta, a, x and p: a dp + p da = one and (1 - a) dx - x da = other."""
    a, x, p = rows
    scale = (1 - a) * p + a * x
    shift = ((1 - a) * one - a * other) / scale
    gradient = Z.T @ (weights * (a + shift)) + pull
    step = -np.asarray(np.linalg.lstsq(hessian, gradient, rcond=None)[0], np.float64)
    ds = Z @ step
    da = a * (1 - a) / scale * ds + shift
    dx = (other + x * da) / (1 - a)
    return step, da, dx, dx - ds


def _length(a: Float, x: Float, p: Float, da: Float, dx: Float, dp: Float) -> float:
    """Return the share of a step at which the first a, 1 - a, x or p reaches 0, at most 1."""
    ratios = (-da / a, da / (1 - a), -dx / x, -dp / p)
    return 1.0 / max(1.0, *(float(ratio.max()) for ratio in ratios))

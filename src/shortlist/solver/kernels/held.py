"""Columns that a Newton step holds at a limit of their coefficients.

The listed columns of a Hessian are ordered: those that move come first, those that the step takes
to a limit, or leaves there, come last. Their steps say which limit. For given held columns the step
of the others is linear algebra; pivoting corrects which are held until the step is the minimum of
the quadratic model within the limits.
"""

import numpy as np

from .reference import kernel

# A coefficient this close to its limit, relatively, is at it.
_AT = 1.0 - 1e-15


@kernel
def within(data, j, t):
    """The coefficient of column j that is nearest to t, within the limits."""
    if t >= data.upper[j] * _AT:
        return data.upper[j]
    if t <= data.lower[j] * _AT:
        return data.lower[j]
    return t


@kernel
def hold_outward(data, hessian, theta, gradient, n):
    """Hold what is at a limit and would get better beyond it; return how many columns move."""
    if not data.is_limited:
        return n
    columns, step = hessian.columns, hessian.step
    n_moving = n
    i = n - 1
    while i >= 0:
        j = columns[i]
        slope = gradient[j] + data.ridge * theta[j]
        if (theta[j] == data.upper[j] and slope < 0.0) or (
            theta[j] == data.lower[j] and slope > 0.0
        ):
            n_moving -= 1
            _exchange(hessian, i, n_moving)
            step[n_moving] = 0.0
        i -= 1
    return n_moving


@kernel
def held_slope(hessian, n_moving, n, i):
    """What the steps of the held columns add to the slope of column i, which moves."""
    total = 0.0
    for k in range(n_moving, n):
        total += hessian.matrix[k, i] * hessian.step[k]
    return total


@kernel
def correct_held(data, hessian, theta, gradient, mismatch, n_moving, n, only_last):
    """Hold what the step takes beyond a limit, release what would rather come back from one.

    Rows of held columns are those of the Hessian, not of a factor. If only the last column in the
    order of the data changes, pivoting comes to an end (Murty's rule). Returns how many columns now
    move, and whether the step was right.
    """
    if not data.is_limited:
        return n_moving, True
    columns, step = hessian.columns, hessian.step
    is_wrong = np.zeros(n, np.bool_)
    last, last_column = -1, -1
    for i in range(n):
        j = columns[i]
        t = theta[j] + step[i]
        if i < n_moving:
            is_wrong[i] = t > data.upper[j] or t < data.lower[j]
        else:
            slope = gradient[j] - mismatch * hessian.mean[i] + data.ridge * theta[j]
            for k in range(i):
                slope += hessian.matrix[i, k] * step[k]
            for k in range(i, n):
                slope += hessian.matrix[k, i] * step[k]
            is_upper = data.upper[j] - t < t - data.lower[j]
            is_wrong[i] = slope > 0.0 if is_upper else slope < 0.0
        if is_wrong[i] and j > last_column:
            last, last_column = i, j
    if last < 0:
        return n_moving, True
    for i in range(n):
        is_wrong[i] = is_wrong[i] and (i == last or not only_last)
        if is_wrong[i] and i < n_moving:
            j = columns[i]
            limit = data.upper[j] if theta[j] + step[i] > data.upper[j] else data.lower[j]
            step[i] = limit - theta[j]
    # Those that move now come first.
    n_then = np.int64(0)  # a plain 0 would be a type of its own
    for i in range(n):
        if (i < n_moving) != is_wrong[i]:
            _exchange(hessian, i, n_then)
            n_then += 1
    return n_then, False


@kernel
def _exchange(hessian, i, k):
    columns, step, mean = hessian.columns, hessian.step, hessian.mean
    columns[i], columns[k] = columns[k], columns[i]
    step[i], step[k] = step[k], step[i]
    mean[i], mean[k] = mean[k], mean[i]

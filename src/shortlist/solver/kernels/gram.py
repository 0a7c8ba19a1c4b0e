"""The quadratic model of the loss on the working set: a weighted Gram matrix, kept across nodes.

The intercept is eliminated: with curvatures d, the model's Hessian on columns i, j is
sum d x_i x_j - (sum d s x_i)(sum d s x_j) / sum d, where s is the intercept's column. Without that,
min-max scaled columns are all nearly parallel to the constant and coordinate descent crawls.

The matrix may be stale, that is, belong to another point: the gradient is always exact, so a stale
Hessian costs steps and never correctness.
"""

import numpy as np
from numba import njit

from .layout import FREE, GRAM_SIZE, GRAM_TOTAL, IN, norm_of
from .rows import dot, total_of

# The curvatures are renewed when they are off by this share of their total.
_STALE = 0.3


@njit(cache=True, error_model="numpy")
def update_gram(data, work, status, worth, force):
    """Renew the curvatures if they are stale, and add what the working set lacks.

    It needs what is nonzero, what is bought, and what is worth more than `worth` per price.
    """
    change, total = _distance(work.d, work.gram_d)
    if force or not change <= _STALE * total:
        _reset(work)
    wanted = np.empty(status.size, np.int64)
    n = 0
    for g in range(status.size):
        if work.position[data.start[g]] < 0 and (
            norm_of(data.start, work.theta, g) > 0.0
            or status[g] == IN
            or (status[g] == FREE and work.v[g] >= worth * work.price[g])
        ):
            wanted[n] = g
            n += 1
    _append(data, work, wanted, n)


@njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _distance(x, y):
    """Return sum |x - y| and sum x."""
    change, total = 0.0, 0.0
    for m in range(x.size):
        change += abs(x[m] - y[m])
        total += x[m]
    return change, total


@njit(cache=True, error_model="numpy")
def _reset(work):
    """Forget all columns and adopt the curvatures in work.d."""
    for i in range(work.counter[GRAM_SIZE]):
        work.position[work.member[i]] = -1
    work.counter[GRAM_SIZE] = 0
    work.gram_d[:] = work.d
    work.scalar[GRAM_TOTAL] = total_of(work.d)


@njit(cache=True, error_model="numpy")
def _append(data, work, wanted, n_wanted):
    """Add the columns of predictors wanted[:n_wanted] to the matrix, as long as there is room."""
    n = work.counter[GRAM_SIZE]
    for i in range(n_wanted):
        first, last = data.start[wanted[i]], data.start[wanted[i] + 1]
        if n + last - first > work.gram.shape[0]:
            break
        for j in range(first, last):
            work.position[j] = n
            work.member[n] = j
            row = work.gram[n]
            mean = weigh_column(data.X, j, work.gram_d, data.n_positive, work.scratch)
            work.gram_mean[n] = mean / work.scalar[GRAM_TOTAL]
            n += 1
            cross_products(data.X, work.scratch, work.member, n, row)
            for k in range(n):
                row[k] -= mean * work.gram_mean[k]
                work.gram[k, n - 1] = row[k]
    work.counter[GRAM_SIZE] = n


@njit(cache=True, error_model="numpy")
def weigh_column(X, j, d, n_positive, out):
    """Fill out = d * x_j; return its inner product with the intercept's column."""
    x = X[j]
    for m in range(d.size):
        out[m] = d[m] * x[m]
    return total_of(out[n_positive:]) - total_of(out[:n_positive])


@njit(cache=True, error_model="numpy")
def curvature_of(X, j, d, n_positive, total):
    """The loss's second derivative in column j, intercept eliminated."""
    x = X[j]
    square, positive = _moments(x[:n_positive], d[:n_positive])
    more, negative = _moments(x[n_positive:], d[n_positive:])
    return max(square + more - (negative - positive) ** 2 / total, 0.0)


@njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _moments(x, d):
    """Return sum d x^2 and sum d x."""
    square, mean = 0.0, 0.0
    for m in range(x.size):
        t = d[m] * x[m]
        mean += t
        square += t * x[m]
    return square, mean


@njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _four_dots(t, a, b, c, d):
    sum_a, sum_b, sum_c, sum_d = 0.0, 0.0, 0.0, 0.0
    for m in range(t.size):
        sum_a += t[m] * a[m]
        sum_b += t[m] * b[m]
        sum_c += t[m] * c[m]
        sum_d += t[m] * d[m]
    return sum_a, sum_b, sum_c, sum_d


@njit(cache=True, error_model="numpy")
def cross_products(X, weighted, columns, n, out):
    """Fill out[i] = weighted' x_k for the first n columns k, four at a time."""
    i = 0
    while i + 4 <= n:
        out[i], out[i + 1], out[i + 2], out[i + 3] = _four_dots(
            weighted, X[columns[i]], X[columns[i + 1]], X[columns[i + 2]], X[columns[i + 3]]
        )
        i += 4
    while i < n:
        out[i] = dot(weighted, X[columns[i]])
        i += 1

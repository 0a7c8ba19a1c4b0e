"""Weighted inner products of columns: what Gram and Hessian matrices are made of."""

from .point import mismatch_of
from .reference import kernel, sum_kernel
from .rows import dot


@kernel
def weigh_column(data, j, d, out):
    """Fill out = d * x_j; return its inner product with the intercept's column."""
    multiply(d, data.X[j], out)
    return mismatch_of(data, out)


@kernel
def multiply(d, x, out):
    """Fill out = d * x."""
    for m in range(d.size):
        out[m] = d[m] * x[m]


@kernel
def centre_column(data, d, mean, out):
    """Take the mean, times d, off a column that was weighed by d."""
    n = data.n_positive
    for m in range(n):
        out[m] += d[m] * mean
    for m in range(n, out.size):
        out[m] -= d[m] * mean


@kernel
def curvature_of(data, j, d, total):
    """The loss's second derivative in column j, intercept eliminated."""
    x, n_positive = data.X[j], data.n_positive
    square, positive = _moments(x[:n_positive], d[:n_positive])
    more, negative = _moments(x[n_positive:], d[n_positive:])
    return max(square + more - (negative - positive) ** 2 / total, 0.0)


@sum_kernel
def _moments(x, d):
    """Return sum d x^2 and sum d x."""
    square, mean = 0.0, 0.0
    for m in range(x.size):
        t = d[m] * x[m]
        mean += t
        square += t * x[m]
    return square, mean


@kernel
def cross_products(X, weighted, columns, n, out):
    """Fill out[i] = weighted' x_k for the first n columns k, four at a time."""
    i = 0
    while i + 4 <= n:
        out[i], out[i + 1], out[i + 2], out[i + 3] = four_dots(
            weighted, X[columns[i]], X[columns[i + 1]], X[columns[i + 2]], X[columns[i + 3]]
        )
        i += 4
    while i < n:
        out[i] = dot(weighted, X[columns[i]])
        i += 1


@sum_kernel
def four_dots(t, a, b, c, d):
    """Inner products of t with four others."""
    sum_a, sum_b, sum_c, sum_d = 0.0, 0.0, 0.0, 0.0
    for m in range(t.size):
        sum_a += t[m] * a[m]
        sum_b += t[m] * b[m]
        sum_c += t[m] * c[m]
        sum_d += t[m] * d[m]
    return sum_a, sum_b, sum_c, sum_d

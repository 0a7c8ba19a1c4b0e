"""The quadratic model of the loss on the working set: a weighted Gram matrix, kept across nodes.

The intercept is eliminated: with curvatures d, the model's Hessian on columns i, j is
sum d x_i x_j - (sum d s x_i)(sum d s x_j) / sum d, where s is the intercept's column. Without that,
min-max scaled columns are all nearly parallel to the constant and coordinate descent crawls.

The matrix may be stale, that is, belong to another point: the gradient is always exact, so a stale
Hessian costs steps and never correctness.
"""

from typing import NamedTuple

import numpy as np

from .layout import FREE, IN, copy, norm_of
from .product import cross_products, weigh_column
from .reference import kernel, sum_kernel
from .rows import total_of

# The curvatures are renewed when they are off by this share of their total.
_STALE = 0.3


class Gram(NamedTuple):
    """The matrix, and the curvatures that it belongs to."""

    matrix: np.ndarray  # (n_model, n_model)
    mean: np.ndarray  # (n_model,) weighted means of the columns
    member: np.ndarray  # (n_model,) the column at each place
    position: np.ndarray  # (n_columns,) place in the matrix, or -1
    d: np.ndarray  # (n_rows,)
    weighted: np.ndarray  # (n_rows,) one column times d
    now: np.record  # n_columns: places in use; total: sum of d


@kernel
def update_gram(data, gram, theta, d, status, value, price, worth, renew):
    """Renew the curvatures if they are stale, and add what the working set lacks.

    It needs what is nonzero, what is bought, and what has more `value` than `worth` per price.
    """
    change, total = _distance(d, gram.d)
    if renew or not change <= _STALE * total:
        _reset(gram, d)
    start, position = data.start, gram.position
    for g in range(status.size):
        if position[start[g]] < 0 and (
            norm_of(start, theta, g) > 0.0
            or status[g] == IN
            or (status[g] == FREE and value[g] >= worth * price[g])
        ):
            if gram.now.n_columns + start[g + 1] - start[g] > gram.member.size:
                break
            for j in range(start[g], start[g + 1]):
                _append(data, gram, j)


@sum_kernel
def _distance(x, y):
    """Return sum |x - y| and sum x."""
    change, total = 0.0, 0.0
    for m in range(x.size):
        change += abs(x[m] - y[m])
        total += x[m]
    return change, total


@kernel
def _reset(gram, d):
    """Forget all columns and adopt the curvatures d."""
    for i in range(gram.now.n_columns):
        gram.position[gram.member[i]] = -1
    gram.now.n_columns = 0
    copy(gram.d, d)
    gram.now.total = total_of(d)


@kernel
def _append(data, gram, j):
    """Add column j to the matrix, which has room for it."""
    n = gram.now.n_columns
    matrix, means = gram.matrix, gram.mean
    gram.position[j] = n
    gram.member[n] = j
    row = matrix[n]
    mean = weigh_column(data, j, gram.d, gram.weighted)
    means[n] = mean / gram.now.total
    n += 1
    cross_products(data.X, gram.weighted, gram.member, n, row)
    for k in range(n):
        row[k] -= mean * means[k]
        matrix[k, n - 1] = row[k]
    gram.now.n_columns = n

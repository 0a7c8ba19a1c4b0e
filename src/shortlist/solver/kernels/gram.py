"""The quadratic model of the loss on the working set: a weighted Gram matrix, kept across nodes.

The intercept is eliminated: with curvatures d, the model's Hessian on columns i, j is
sum d x_i x_j - (sum d s x_i)(sum d s x_j) / sum d, where s is the intercept's column. Without that,
min-max scaled columns are all nearly parallel to the constant and coordinate descent crawls.

The matrix may be stale, that is, belong to another point: the gradient is always exact, so a stale
Hessian costs steps and never correctness.
"""

from typing import NamedTuple

import numpy as np

from .fields import Array, Record
from .layout import FREE, IN, copy, norm_of
from .point import column_slopes, total_curvature
from .product import four_dots, multiply
from .reference import kernel, sum_kernel
from .rows import dot

# Rows and columns of the blocks in which the matrix is computed: a block stays in the cache.
BLOCK_ROWS, BLOCK_COLUMNS = 256, 16


class Gram(NamedTuple):
    """The matrix, and the curvatures that it belongs to."""

    matrix: Array("n_model", "n_model")
    mean: Array("n_model")  # weighted means of the columns
    member: Array("n_model", dtype=np.int64)  # the column at each place
    position: Array("n_columns", dtype=np.int64, start=-1)  # place in the matrix, or -1
    d: Array("n_rows", start=0.0)
    block: Array(BLOCK_COLUMNS, BLOCK_ROWS)  # columns times d
    now: Record(n_columns=0, total=0.0)  # places in use, sum of d


@kernel
def update_gram(data, gram, theta, d, status, value, price, worth, stale):
    """Renew the curvatures if they are off by the share `stale`; add what the working set lacks.

    It needs what is nonzero, what is bought, and what has more `value` than `worth` per price.
    """
    change, total = _distance(d, gram.d)
    if not change <= stale * total:
        _reset(data, gram, d)
    start, position, member = data.start, gram.position, gram.member
    n = gram.now.n_columns
    for g in range(status.size):
        if position[start[g]] < 0 and (
            norm_of(start, theta, g) > 0.0
            or status[g] == IN
            or (status[g] == FREE and value[g] >= worth * price[g])
        ):
            if n + start[g + 1] - start[g] > member.size:
                break
            for j in range(start[g], start[g + 1]):
                position[j] = n
                member[n] = j
                n += 1
    _fill_rows(data, gram, gram.now.n_columns, n)
    gram.now.n_columns = n


@sum_kernel
def _distance(x, y):
    """Return sum |x - y| and sum x."""
    change, total = 0.0, 0.0
    for m in range(x.size):
        change += abs(x[m] - y[m])
        total += x[m]
    return change, total


@kernel
def _reset(data, gram, d):
    """Forget all columns and adopt the curvatures d."""
    for i in range(gram.now.n_columns):
        gram.position[gram.member[i]] = -1
    gram.now.n_columns = 0
    copy(gram.d, d)
    gram.now.total = total_curvature(data, d)


@kernel
def _fill_rows(data, gram, first, n):
    """Fill rows and columns first to n of the matrix."""
    matrix, means, member, d = gram.matrix, gram.mean, gram.member, gram.d
    for i in range(first, n):
        matrix[i, : i + 1] = 0.0
    for row in range(0, d.size, BLOCK_ROWS):
        last_row = min(row + BLOCK_ROWS, d.size)
        for column in range(first, n, BLOCK_COLUMNS):
            last_column = min(column + BLOCK_COLUMNS, n)
            for i in range(column, last_column):
                multiply(d[row:last_row], data.X[member[i], row:last_row], gram.block[i - column])
            for k in range(last_column):
                x = data.X[member[k], row:last_row]
                i = max(column, k)
                while i + 4 <= last_column:
                    b = i - column
                    s0, s1, s2, s3 = four_dots(
                        x, gram.block[b], gram.block[b + 1], gram.block[b + 2], gram.block[b + 3]
                    )
                    matrix[i, k] += s0
                    matrix[i + 1, k] += s1
                    matrix[i + 2, k] += s2
                    matrix[i + 3, k] += s3
                    i += 4
                while i < last_column:
                    matrix[i, k] += dot(x, gram.block[i - column])
                    i += 1
    for i in range(first, n):
        positive, negative = column_slopes(data, member[i], d)
        means[i] = (negative - positive) / gram.now.total
        for k in range(i + 1):
            matrix[i, k] -= (negative - positive) * means[k]
            matrix[k, i] = matrix[i, k]

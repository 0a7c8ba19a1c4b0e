"""The Hessian of a logistic regression on a few columns, and its Cholesky factor."""

from typing import NamedTuple

import numpy as np

from .fields import Array
from .layout import IN, Loss
from .product import centre_column, cross_products, weigh_column
from .reference import kernel


class Hessian(NamedTuple):
    """A matrix on listed columns, intercept eliminated, ridge included."""

    columns: Array("n_fit", dtype=np.int64)
    matrix: Array("n_fit", "n_fit")  # then its factor
    mean: Array("n_fit")  # weighted means of the columns
    step: Array("n_fit")  # right-hand side, then solution
    weighted: Array("n_rows")  # one column times d


@kernel
def list_columns(data, status, columns):
    """List the columns of the bought predictors; return how many."""
    n = 0
    for g in range(status.size):
        if status[g] == IN:
            for j in range(data.start[g], data.start[g + 1]):
                columns[n] = j
                n += 1
    return n


@kernel
def intercept_step(hessian, step, n, mismatch, total):
    """The step of the intercept that goes with those of the listed columns."""
    step0 = -mismatch / total
    for i in range(n):
        step0 -= step[i] * hessian.mean[i]
    return step0


@kernel
def fill_hessian(data, hessian, d, n, total):
    """Fill the rows of the n listed columns; total is the sum of the curvatures d."""
    columns, means = hessian.columns, hessian.mean
    for i in range(n):
        mean = weigh_column(data, columns[i], d, hessian.weighted)
        means[i] = mean / total
        row = hessian.matrix[i]
        is_centred = data.loss == Loss.HINGE
        if is_centred:
            # Its curvatures differ by many orders, which the difference below would not survive.
            centre_column(data, d, means[i], hessian.weighted)
        cross_products(data.X, hessian.weighted, columns, i + 1, row)
        if not is_centred:
            for k in range(i + 1):
                row[k] -= mean * means[k]
        # The slack keeps rounding from making the matrix indefinite.
        row[i] = max(row[i], 0.0) * (1.0 + 1e-13) + data.ridge

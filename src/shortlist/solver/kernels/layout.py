"""The data as kernels see it.

Rows are ordered by class, positives first, and stored with their sign: column j holds -y_m x_mj,
so that u = X theta + side * theta_0 is minus the margin, with side -1 for positive rows and +1 for
negative ones. The logistic loss is log(1 + exp(u)). Columns are ordered by predictor: predictor g
owns columns start[g] to start[g + 1].
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from .reference import fused_kernel, kernel

# The state of a predictor at a node.
FREE, IN, OUT = 0, 1, 2


class Loss(IntEnum):
    """The losses, by the names of `shortlist.losses`."""

    LOGISTIC = 0
    SQUARED_HINGE = 1
    HINGE = 2


class Data(NamedTuple):
    """What is fitted. X has one row per column of the problem, so that columns are contiguous."""

    X: np.ndarray  # (n_columns, n_rows)
    w: np.ndarray  # (n_rows,)
    n_positive: int
    start: np.ndarray  # (n_predictors + 1,)
    owner: np.ndarray  # (n_columns,) the predictor of each column
    lower: np.ndarray  # (n_columns,) limits of the coefficients
    upper: np.ndarray  # (n_columns,)
    is_limited: bool  # whether any of them is finite
    ridge: float
    loss: int  # of `Loss`
    width: float  # of the band on which the hinge is smoothed; 0 for other losses
    null_intercept: float  # of the model without coefficients
    null_objective: float


@fused_kernel
def linear_predictor(data, theta, theta0, u):
    """Fill u = X theta + side * theta_0."""
    u[: data.n_positive] = -theta0
    u[data.n_positive :] = theta0
    for j in range(theta.size):
        t = theta[j]
        if t != 0.0:
            x = data.X[j]
            for m in range(u.size):
                u[m] += t * x[m]


@kernel
def norm_of(start, theta, g):
    """Return ||theta_g||."""
    if start[g + 1] - start[g] == 1:
        return abs(theta[start[g]])
    total = 0.0
    for j in range(start[g], start[g + 1]):
        total += theta[j] * theta[j]
    return math.sqrt(total)


@fused_kernel
def add_columns(data, columns, step, n, intercept, t):
    """Fill t = X step + side * intercept, where step is that of the listed columns."""
    t[: data.n_positive] = -intercept
    t[data.n_positive :] = intercept
    for i in range(n):
        x, s = data.X[columns[i]], step[i]
        for m in range(t.size):
            t[m] += s * x[m]


@kernel
def copy(target, source):
    """Fill target with source; an assignment to a slice would compile much more than this."""
    for i in range(source.size):
        target[i] = source[i]

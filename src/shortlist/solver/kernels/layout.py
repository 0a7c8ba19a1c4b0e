"""The arrays that the kernels share: the data, the limits, and the scratch space of one search.

Rows are ordered by class, positives first, and stored with their sign: column j holds -y_m x_mj,
so that u = X theta + side * theta_0 is the argument of the loss log(1 + exp(u)). Columns are
ordered by predictor: predictor g owns columns start[g] to start[g + 1].
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

FREE, IN, OUT = 0, 1, 2

# Positions in Work.scalar.
GRAM_TOTAL, OLD_INTERCEPT, FIRST_MULTIPLIER, NULL_OBJECTIVE = 0, 1, 2, 3


class Data(NamedTuple):
    """What is fitted. X has one row per column of the problem (columns are contiguous)."""

    X: np.ndarray  # (n_columns, n_rows)
    w: np.ndarray  # (n_rows,)
    n_positive: int
    start: np.ndarray  # (n_predictors + 1,)
    ridge: float


class Limits(NamedTuple):
    """What is affordable, in the units of `Constraints`."""

    cost: np.ndarray  # (n_predictors,)
    fee: np.ndarray  # (n_fees,)
    pays: np.ndarray  # (n_fees, n_predictors) bool: buying this predictor incurs this fee
    order: np.ndarray  # predictors sorted by the fee that the oracle charges them with
    charged: np.ndarray  # (n_predictors,) that fee, or -1
    budget: float
    max_features: int
    integral: bool
    has_budget: bool


class Work(NamedTuple):
    """Scratch space."""

    u: np.ndarray
    decay: np.ndarray
    scratch: np.ndarray
    q: np.ndarray
    rho: np.ndarray
    d: np.ndarray
    u_old: np.ndarray
    theta: np.ndarray
    theta_old: np.ndarray
    theta_best: np.ndarray
    gradient: np.ndarray
    v: np.ndarray
    price: np.ndarray
    value_in: np.ndarray
    value_out: np.ndarray
    z: np.ndarray
    gram: np.ndarray
    gram_d: np.ndarray
    gram_mean: np.ndarray
    position: np.ndarray
    member: np.ndarray
    owner: np.ndarray
    scalar: np.ndarray
    norm: np.ndarray
    q_model: np.ndarray
    t_model: np.ndarray
    block: np.ndarray
    block_b: np.ndarray
    block_x: np.ndarray
    table: np.ndarray
    zone: np.ndarray
    b_model: np.ndarray
    active: np.ndarray
    kkt: np.ndarray
    rhs_fixed: np.ndarray
    rhs_rise: np.ndarray
    fit_hessian: np.ndarray
    fit_step: np.ndarray
    fit_means: np.ndarray


@njit(cache=True, fastmath={"contract"})
def linear_predictor(X, n_positive, theta, theta0, u):
    """Fill u = X theta + side * theta_0."""
    u[:n_positive] = -theta0
    u[n_positive:] = theta0
    for j in range(theta.size):
        t = theta[j]
        if t != 0.0:
            for m in range(u.size):
                u[m] += t * X[j, m]


@njit(cache=True)
def norm_of(start, theta, g):
    """Return ||theta_g||."""
    if start[g + 1] - start[g] == 1:
        return abs(theta[start[g]])
    total = 0.0
    for j in range(start[g], start[g + 1]):
        total += theta[j] * theta[j]
    return math.sqrt(total)

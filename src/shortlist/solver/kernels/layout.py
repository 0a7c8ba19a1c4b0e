"""The arrays that the kernels share: the data, the limits, the tree and the scratch space.

Rows are ordered by class, positives first, and stored with their sign: column j holds -y_m x_mj,
so that u = X theta + side * theta_0 is the argument of the loss log(1 + exp(u)), with side -1 for
positive rows and +1 for negative ones. Columns are ordered by predictor: predictor g owns columns
start[g] to start[g + 1].
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

# The state of a predictor at a node.
FREE, IN, OUT = 0, 1, 2

# Positions in Work.scalar.
GRAM_TOTAL, OLD_INTERCEPT, NULL_OBJECTIVE, UPPER, BEST_INTERCEPT, CLOSED = range(6)
N_SCALARS = 6

# Positions in Work.counter.
(
    GRAM_SIZE, NODES, OPEN, SERIAL, DIVE, EVALUATIONS, FITS, STEPS, MEMBERS, POINTS, ENTRIES,
    LISTED, LEFT_OUT,
) = range(13)  # fmt: skip
N_COUNTERS = 13


class Data(NamedTuple):
    """What is fitted. X has one row per column of the problem, so that columns are contiguous."""

    X: np.ndarray  # (n_columns, n_rows)
    w: np.ndarray  # (n_rows,)
    n_positive: int
    start: np.ndarray  # (n_predictors + 1,)
    owner: np.ndarray  # (n_columns,) the predictor of each column
    ridge: float


class Limits(NamedTuple):
    """What is affordable, in the units of `Constraints`."""

    cost: np.ndarray  # (n_predictors,)
    fee: np.ndarray  # (n_fees,)
    pays: np.ndarray  # (n_fees, n_predictors) bool: buying this predictor incurs this fee
    charged: np.ndarray  # (n_predictors,) the one fee that the oracle charges, or -1
    order: np.ndarray  # (n_predictors,) predictors sorted by that fee
    budget: float
    max_features: int
    integral: bool
    has_budget: bool


class Work(NamedTuple):
    """Scratch space and the state of the search that outlives a call."""

    scalar: np.ndarray
    counter: np.ndarray
    # rows
    u: np.ndarray
    u_old: np.ndarray
    decay: np.ndarray
    scratch: np.ndarray
    q: np.ndarray  # w a
    d: np.ndarray  # w a (1 - a)
    u_saved: np.ndarray
    q_saved: np.ndarray
    d_saved: np.ndarray
    rho: np.ndarray  # (2,) factors that balance the classes' dual mass
    point: np.ndarray  # (3,) loss, entropy and intercept's slope of the last relaxation
    # columns
    theta: np.ndarray
    theta_old: np.ndarray
    theta_saved: np.ndarray
    theta_best: np.ndarray  # incumbent
    gradient: np.ndarray
    slope_saved: np.ndarray
    columns: np.ndarray
    # predictors
    v: np.ndarray
    z: np.ndarray
    price: np.ndarray
    value_in: np.ndarray
    value_out: np.ndarray
    ranked: np.ndarray
    gain: np.ndarray
    root_price: np.ndarray  # sqrt(2 ridge price)
    entry: np.ndarray
    chain: np.ndarray  # active predictors of the model, steadiest first
    zone: np.ndarray
    status: np.ndarray
    status_trial: np.ndarray
    status_swap: np.ndarray
    status_best: np.ndarray  # incumbent
    # quadratic model on the working set
    gram: np.ndarray
    gram_d: np.ndarray
    gram_mean: np.ndarray
    position: np.ndarray  # (n_columns,) place in the matrix, or -1
    member: np.ndarray  # the column at each place
    linear: np.ndarray
    slope: np.ndarray
    active: np.ndarray
    system: np.ndarray
    solution: np.ndarray
    response: np.ndarray
    # fits on a support
    hessian: np.ndarray
    step: np.ndarray
    mean: np.ndarray


class Tree(NamedTuple):
    """Open nodes, in slots: `heap` orders those in use by bound, `vacant` lists the others."""

    status: np.ndarray  # (n_slots, n_predictors)
    theta: np.ndarray  # (n_slots, n_columns)
    theta0: np.ndarray
    mu: np.ndarray
    bound: np.ndarray
    point: np.ndarray  # the recorded point that proves the bound
    serial: np.ndarray  # the node's number, in order of creation
    heap: np.ndarray
    vacant: np.ndarray


class Listing(NamedTuple):
    """Models found by `run_listing`, the first LISTED places in use."""

    status: np.ndarray  # (n_places, n_predictors)
    theta: np.ndarray  # (n_places, n_columns)
    theta0: np.ndarray
    objective: np.ndarray


class Stairs(NamedTuple):
    """What each whole amount buys, from 0 to the budget."""

    upper: np.ndarray  # (budget + 1,) objective of the best model found
    closed: np.ndarray  # (budget + 1,) smallest bound of the closed leaves
    status: np.ndarray  # (budget + 1, n_predictors)
    theta: np.ndarray  # (budget + 1, n_columns)
    theta0: np.ndarray


class Trace(NamedTuple):
    """What a proof needs: see `trace`. Counters say how much of each array is in use."""

    kind: np.ndarray  # steps
    node: np.ndarray
    reference: np.ndarray
    first_member: np.ndarray
    member: np.ndarray
    intercept: np.ndarray  # points
    first_entry: np.ndarray
    column: np.ndarray  # entries
    value: np.ndarray


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def linear_predictor(X, n_positive, theta, theta0, u):
    """Fill u = X theta + side * theta_0."""
    u[:n_positive] = -theta0
    u[n_positive:] = theta0
    for j in range(theta.size):
        t = theta[j]
        if t != 0.0:
            x = X[j]
            for m in range(u.size):
                u[m] += t * x[m]


@njit(cache=True, error_model="numpy")
def norm_of(start, theta, g):
    """Return ||theta_g||."""
    if start[g + 1] - start[g] == 1:
        return abs(theta[start[g]])
    total = 0.0
    for j in range(start[g], start[g + 1]):
        total += theta[j] * theta[j]
    return math.sqrt(total)


@njit(cache=True, error_model="numpy")
def columns_in(start, status, theta, columns):
    """List the columns of the bought predictors, and set theta to 0 elsewhere; return how many."""
    n = 0
    for g in range(status.size):
        for j in range(start[g], start[g + 1]):
            if status[g] == IN:
                columns[n] = j
                n += 1
            else:
                theta[j] = 0.0
    return n

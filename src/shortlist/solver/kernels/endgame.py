"""Nodes at which just one more predictor can be bought.

At weak ridge nearly all nodes are of this kind. What is bought already is fitted once. The dual
point of one Newton step from there, in its columns and those of a candidate, mostly proves enough
to close the candidate. Candidates of small predicted gain share one step, taken in all their
columns together, because the bound has to allow for only one of them.
"""

import math

import numpy as np
from numba import njit

from .cholesky import backward, factorise, forward
from .fit import MODEL, PREDICTOR, ROWS, hessian_rows
from .heuristic import COARSE, FINE, fit_status
from .layout import FREE, IN, OUT, UPPER, linear_predictor
from .point import column_slopes, evaluate_rows
from .rows import total_of
from .trace import ONE, record_member, record_point, record_step
from .tree import close_leaf

LARGEST_BATCH = 16
# A batch may hope to gain this share of what separates its node from the incumbent; half as much
# after each failure.
_HOPE = 0.7
# Balancing the classes costs a pass over the rows: it is done well only where that may decide.
_ROUGH_BALANCE, _BALANCE = 0.1, 1e-4


@njit(cache=True, error_model="numpy")
def buy_one(data, work, trace, status, theta0, gap, node):
    """Close the node: bound or fit, for each free predictor, what is bought plus that one.

    work.u, work.q and work.d are those of the node's relaxation.
    """
    trial = work.status_trial
    for g in range(status.size):
        trial[g] = IN if status[g] == IN else OUT
    theta0, objective, _ = fit_status(data, work, trial, theta0, math.inf, COARSE, ROWS)
    work.theta_saved[:] = work.theta
    work.d_saved[:] = work.d
    mismatch = total_of(work.q[data.n_positive :]) - total_of(work.q[: data.n_positive])
    for g in range(status.size):
        if status[g] != OUT:
            for j in range(data.start[g], data.start[g + 1]):
                positive, negative = column_slopes(data.X, j, work.q, data.n_positive)
                work.slope_saved[j] = -(positive + negative) - data.ridge * work.theta[j]
    n = _bought_rows(data, work, trial, mismatch)
    candidates = _by_gain(data, work, status, n, mismatch)
    first = 0
    hope = _HOPE
    largest = LARGEST_BATCH
    while first < candidates.size:
        # 1. Gather a batch, weakest first.
        cutoff = work.scalar[UPPER] * (1.0 - gap)
        last = first + 1
        gain = work.gain[candidates[first]]
        while last < min(candidates.size, first + largest):
            gain += work.gain[candidates[last]]
            if gain > hope * (objective - cutoff):
                break
            last += 1
        # 2. Close it by the bound of one step, or else fit.
        bound, t0 = _step_bound(data, work, n, candidates[first:last], theta0, mismatch, cutoff)
        if bound < cutoff:
            if last - first > 1:
                hope *= 0.5
                largest = (last - first) // 2
                continue
            g = candidates[first]
            trial[g] = IN
            known = MODEL if bound > -math.inf else PREDICTOR
            t0, _, bound = fit_status(data, work, trial, t0, cutoff, FINE, known)
            trial[g] = OUT
            work.d[:] = work.d_saved
            n = _bought_rows(data, work, trial, mismatch)
        close_leaf(work.scalar, bound)
        point = record_point(trace, work.counter, work.theta, t0)
        record_step(trace, work.counter, ONE, node, point)
        for i in range(first, last):
            record_member(trace, work.counter, candidates[i])
        first = last
        largest = LARGEST_BATCH


@njit(cache=True, error_model="numpy")
def _append(data, work, g, n):
    for j in range(data.start[g], data.start[g + 1]):
        work.columns[n] = j
        n += 1
    return n


@njit(cache=True, error_model="numpy")
def _factorise_from(data, work, first, n, mismatch):
    """Factorise rows first to n of the Hessian on work.columns, and substitute forward.

    work.step[:n] becomes y with L y = downhill slope: the model falls by y_i^2 / 2 per column.
    """
    hessian_rows(data, work, first, n, total_of(work.d))
    if not factorise(work.hessian, first, n):
        return False
    for i in range(first, n):
        work.step[i] = work.slope_saved[work.columns[i]] + mismatch * work.mean[i]
    forward(work.hessian, first, n, work.step)
    return True


@njit(cache=True, error_model="numpy")
def _bought_rows(data, work, trial, mismatch):
    """Factorise what is bought; return its number of columns, or -1 if they are dependent."""
    n = 0
    for g in range(trial.size):
        if trial[g] == IN:
            n = _append(data, work, g, n)
    return n if _factorise_from(data, work, 0, n, mismatch) else -1


@njit(cache=True, error_model="numpy")
def _by_gain(data, work, status, n, mismatch):
    """The free predictors by predicted gain, smallest first; unknown gains are infinite."""
    candidates = np.empty(status.size, np.int64)
    n_free = 0
    for g in range(status.size):
        if status[g] == FREE:
            candidates[n_free] = g
            n_free += 1
            work.gain[g] = math.inf
            if n >= 0:
                size = _append(data, work, g, n)
                if _factorise_from(data, work, n, size, mismatch):
                    work.gain[g] = 0.0
                    for i in range(n, size):
                        work.gain[g] += 0.5 * work.step[i] * work.step[i]
    candidates = candidates[:n_free]
    return candidates[np.argsort(work.gain[candidates], kind="mergesort")]


@njit(cache=True, error_model="numpy")
def _step_bound(data, work, n, batch, theta0, mismatch, cutoff):
    """Bound on what is bought plus any one of the batch, after one Newton step in all of it.

    Returns the bound and the intercept of the step, whose linear predictor is left in work.u.
    """
    work.theta[:] = work.theta_saved
    work.d[:] = work.d_saved
    size = n
    if n >= 0:
        for g in batch:
            size = _append(data, work, g, size)
    if n < 0 or not _factorise_from(data, work, n, size, mismatch):
        linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
        return -math.inf, theta0
    work.solution[:size] = work.step[:size]
    backward(work.hessian, size, work.solution)
    theta0 -= mismatch / total_of(work.d)
    for i in range(size):
        work.theta[work.columns[i]] += work.solution[i]
        theta0 -= work.solution[i] * work.mean[i]
    linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
    bound = -math.inf
    for balance in (_ROUGH_BALANCE, _BALANCE):
        theta0, _, entropy, mismatch = evaluate_rows(data, work, theta0, balance)
        bound = entropy
        for i in range(n):
            bound -= _value(data, work, work.columns[i])
        largest = 0.0
        for g in batch:
            value = 0.0
            for j in range(data.start[g], data.start[g + 1]):
                value += _value(data, work, j)
            largest = max(largest, value)
        bound -= largest
        if bound >= cutoff or bound + 2.0 * abs(mismatch) < cutoff:
            break
    return bound, theta0


@njit(cache=True, error_model="numpy")
def _value(data, work, j):
    """The share of column j in v."""
    positive, negative = column_slopes(data.X, j, work.q, data.n_positive)
    slope = work.rho[0] * positive + work.rho[1] * negative
    return slope * slope / (2.0 * data.ridge)

"""Nodes at which just one more predictor can be bought.

At weak ridge nearly all nodes are of this kind. What is bought already is fitted once. The dual
point of one Newton step from there, in its columns and those of a candidate, mostly proves enough
to close the candidate. Candidates of small predicted gain share one step, taken in all their
columns together, because the bound has to allow for only one of them.
"""

import math
from typing import NamedTuple

import numpy as np

from .cholesky import FIRST, backward, factorise, forward
from .fit import COARSE, Start, fit_selection, start_from_rows
from .hessian import Hessian, fill_hessian, list_columns
from .incumbent import offer
from .layout import FREE, IN, OUT, copy, linear_predictor
from .listing import is_listing, keep_selection
from .point import column_slopes, evaluate_rows
from .reference import inlined, kernel
from .rows import total_of
from .sort import sort_by
from .trace import Kind, record_member, record_point, record_step
from .tree import close_leaf

LARGEST_BATCH = 16
# A batch may be predicted to gain this share of what separates its node from the incumbent; half as
# much after each failure.
_BATCH_SHARE = 0.7
# Balancing the classes costs a pass over the rows: it is done well only where that may decide.
_ROUGH_BALANCE, _BALANCE = 0.1, 1e-4


class Endgame(NamedTuple):
    """The fit of what is bought, from which every step starts."""

    trial: np.ndarray  # (n_predictors,) what is bought, plus one candidate
    theta: np.ndarray  # (n_columns,)
    d: np.ndarray  # (n_rows,)
    slope: np.ndarray  # (n_columns,) downhill
    hessian: Hessian  # on what is bought and a batch, factorised
    gain: np.ndarray  # (n_predictors,) predicted for each candidate
    step: np.ndarray  # (n_fit,)
    now: np.record  # intercept, mismatch, total: sum of d


@inlined
def buy_one(search, tree, trace, gap, node):
    """Close the node: bound or fit, for each free predictor, what is bought plus that one."""
    data, fit, endgame, status = search.data, search.fit, search.endgame, search.status
    trial = endgame.trial
    for g in range(status.size):
        trial[g] = IN if status[g] == IN else OUT
    objective = _fit_bought(search, search.incumbent.score.objective * (1.0 - gap))
    n = _factorise_bought(data, endgame)
    candidates = _by_gain(data, endgame, status, n)
    first = 0
    share = _BATCH_SHARE
    largest = LARGEST_BATCH
    while first < candidates.size:
        # 1. Gather a batch, weakest first.
        cutoff = search.incumbent.score.objective * (1.0 - gap)
        last = first + 1
        gain = endgame.gain[candidates[first]]
        while last < min(candidates.size, first + largest):
            gain += endgame.gain[candidates[last]]
            if gain > share * (objective - cutoff):
                break
            last += 1
        # 2. Close it by the bound of one step, or else fit.
        bound, theta0 = _step_bound(data, fit, endgame, n, candidates[first:last], cutoff)
        if bound < cutoff:
            if last - first > 1:
                share *= 0.5
                largest = (last - first) // 2
                continue
            g = candidates[first]
            trial[g] = IN
            start = Start.MODEL if bound > -math.inf else Start.PREDICTOR
            theta0, bound = keep_selection(search, trial, theta0, cutoff, start)
            trial[g] = OUT
        # 3. Write down what closed it.
        close_leaf(tree, bound)
        record_step(trace, Kind.ONE, node, record_point(trace, fit.theta, theta0))
        for i in range(first, last):
            record_member(trace, candidates[i])
        first = last
        largest = LARGEST_BATCH


@inlined
def _fit_bought(search, cutoff):
    """Fit what is bought, and note the slopes of all columns there; return the objective."""
    data, fit, endgame, status = search.data, search.fit, search.endgame, search.status
    start_from_rows(fit, search.relaxation.rows)
    theta0, objective, bound = fit_selection(
        data, fit, endgame.trial, 0.0, math.inf, COARSE, Start.ROWS
    )
    q = fit.rows.q
    copy(endgame.theta, fit.theta)
    copy(endgame.d, fit.rows.d)
    endgame.now.intercept = theta0
    endgame.now.mismatch = total_of(q[data.n_positive :]) - total_of(q[: data.n_positive])
    endgame.now.total = total_of(fit.rows.d)
    for g in range(status.size):
        if status[g] != OUT:
            for j in range(data.start[g], data.start[g + 1]):
                positive, negative = column_slopes(data, j, q)
                endgame.slope[j] = -(positive + negative) - data.ridge * fit.theta[j]
    if is_listing(search.listing):
        if bound < cutoff:
            keep_selection(search, endgame.trial, theta0, cutoff, Start.MODEL)
    else:
        offer(search.incumbent, fit, endgame.trial, theta0, objective)
    return objective


@kernel
def _append(data, hessian, g, n):
    for j in range(data.start[g], data.start[g + 1]):
        hessian.columns[n] = j
        n += 1
    return n


@kernel
def _factorise_from(data, endgame, first, n):
    """Factorise rows first to n of the Hessian on its columns, and substitute forward.

    hessian.step[:n] becomes y with L y = downhill slope: the model falls by y_i^2 / 2 per column.
    """
    hessian, now = endgame.hessian, endgame.now
    fill_hessian(data, hessian, endgame.d, first, n, now.total)
    if not factorise(hessian.matrix, first, n):
        return False
    for i in range(first, n):
        hessian.step[i] = endgame.slope[hessian.columns[i]] + now.mismatch * hessian.mean[i]
    forward(hessian.matrix, first, n, hessian.step)
    return True


@kernel
def _factorise_bought(data, endgame):
    """Factorise what is bought; return its number of columns, or -1 if they are dependent."""
    n = list_columns(data, endgame.trial, endgame.hessian.columns)
    return n if _factorise_from(data, endgame, FIRST, n) else -1


@kernel
def _by_gain(data, endgame, status, n):
    """The free predictors by predicted gain, smallest first; unknown gains are infinite."""
    gain, step = endgame.gain, endgame.hessian.step
    candidates = np.empty(status.size, np.int64)
    n_free = np.int64(0)  # a plain 0 would be a type of its own
    for g in range(status.size):
        if status[g] == FREE:
            candidates[n_free] = g
            n_free += 1
            gain[g] = math.inf
            if n >= 0:
                size = _append(data, endgame.hessian, g, n)
                if _factorise_from(data, endgame, n, size):
                    gain[g] = 0.0
                    for i in range(n, size):
                        gain[g] += 0.5 * step[i] * step[i]
    sort_by(gain, candidates, n_free)
    return candidates[:n_free]


@inlined
def _step_bound(data, fit, endgame, n, batch, cutoff):
    """Bound on what is bought plus any one of the batch, after one Newton step in all of it.

    Returns the bound and the intercept of the step, whose point is left in fit.
    """
    hessian, step, theta0 = endgame.hessian, endgame.step, endgame.now.intercept
    copy(fit.theta, endgame.theta)
    size = n
    if n >= 0:
        for g in batch:
            size = _append(data, hessian, g, size)
    if n < 0 or not _factorise_from(data, endgame, n, size):
        linear_predictor(data, fit.theta, theta0, fit.rows.u)
        return -math.inf, theta0
    for i in range(size):
        step[i] = hessian.step[i]
    backward(hessian.matrix, size, step)
    theta0 -= endgame.now.mismatch / endgame.now.total
    for i in range(size):
        fit.theta[hessian.columns[i]] += step[i]
        theta0 -= step[i] * hessian.mean[i]
    linear_predictor(data, fit.theta, theta0, fit.rows.u)
    bound = -math.inf
    for balance in (_ROUGH_BALANCE, _BALANCE):
        theta0, _, entropy, mismatch = evaluate_rows(data, fit.rows, theta0, balance)
        bound = entropy
        for i in range(n):
            bound -= _value(data, fit.rows, hessian.columns[i])
        largest = 0.0
        for g in batch:
            value = 0.0
            for j in range(data.start[g], data.start[g + 1]):
                value += _value(data, fit.rows, j)
            largest = max(largest, value)
        bound -= largest
        if bound >= cutoff or bound + 2.0 * abs(mismatch) < cutoff:
            break
    return bound, theta0


@kernel
def _value(data, rows, j):
    """The share of column j in v."""
    positive, negative = column_slopes(data, j, rows.q)
    slope = rows.rho.positive * positive + rows.rho.negative * negative
    return slope * slope / (2.0 * data.ridge)

"""Nodes at which one or two more predictors can be bought: closed without branching.

Nearly all nodes are of this kind. What is bought already is fitted once; call that the base. The
base's dual point, moved along the Newton step in the bought columns and those of some candidates,
bounds what the candidates can gain, exactly to second order and without an exponential (see
`correct_rows`). Candidates of small predicted gain share a step, because the bound has to allow for
only one of them. What cannot be closed that way is fitted.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from .cholesky import FIRST, backward, factorise, forward
from .fields import STATUS, Array, Record
from .fit import COARSE, Start, fit_selection, record_fit, start_from_rows
from .hessian import Hessian, fill_hessian, intercept_step, list_columns
from .incumbent import offer
from .layout import FREE, IN, OUT, copy
from .listing import is_listing, keep_selection
from .newton import moved_bound
from .oracle import NOTHING, complete, price_now
from .point import (
    Moved,
    Rows,
    column_slopes,
    mismatch_of,
    predictor_value,
    total_curvature,
)
from .product import cross_products, weigh_column
from .reference import inlined, kernel
from .rows import dot
from .sort import sort_by
from .trace import Kind, record_member, record_moved, record_step
from .tree import close_leaf, close_node, create_children

LARGEST_BATCH = 16
NONE = np.int64(0)  # a plain 0 would be a type of its own
# A batch may be predicted to gain this share of what separates its node from the cutoff.
_BATCH_SHARE = 0.8
# Pairs are closed one by one where there are at most this many per free predictor, of which there
# are not too many. Each takes a point of the proof; branching then needs fewer, and less time.
_MOST_PAIRS, _MOST_FREE = 4, 128
# A curvature at which nothing moves: that of what its slope holds at a limit of the coefficient.
_HELD = 1e300


class Endgame(NamedTuple):
    """The fit of what is bought, from which every step starts, and how columns relate to it."""

    trial: STATUS  # what is bought, plus candidates
    base: Rows
    theta: Array("n_columns")
    slope: Array("n_columns")  # downhill, intercept eliminated
    cross: Array("n_columns", "n_fit")  # Hessian entries with the bought columns
    square: Array("n_columns")  # Hessian entries with itself
    mean: Array("n_columns")  # weighted means
    hessian: Hessian  # on what is bought and a batch, factorised
    gain: Array("n_predictors")  # predicted for each candidate
    step: Array("n_fit")
    moved: Moved
    # Of the base: total is that of d, n_bought counts columns, is_solved says whether they are
    # independent; step0 is the intercept's part of the last step.
    now: Record(
        intercept=0.0, objective=0.0, mismatch=0.0, total=0.0, n_bought=0, is_solved=0, step0=0.0
    )


@inlined
def buy_one(search, tree, trace, gap, node):
    """Close a node at which no two free predictors are affordable together."""
    status = search.status
    candidates = np.empty(status.size, np.int64)
    n_candidates = NONE
    for g in range(status.size):
        if status[g] == FREE:
            candidates[n_candidates] = g
            n_candidates += 1
    _fit_base(search)
    n = search.endgame.now.n_bought
    _close_candidates(search, tree, trace, gap, node, n, candidates, n_candidates)
    if is_listing(search.listing):
        _close_selection(search, tree, trace, gap, node)


@register_jitable
def largest_node(n_predictors):
    """The largest numbers of steps and members that a node writes down."""
    n_free = min(n_predictors, _MOST_FREE)
    return n_predictors + (3 + _MOST_PAIRS) * n_free, 2 * n_predictors + n_free * (n_free + 1)


@kernel
def are_pairs_few(search, base, cutoff, n_free):
    """Whether few pairs of free predictors are not closed by the node's own point."""
    if n_free > _MOST_FREE:
        return False
    status, v = search.status, search.relaxation.values.v
    most = _MOST_PAIRS * n_free
    n_open = 0
    for g in range(status.size):
        if status[g] == FREE:
            for h in range(g):
                if status[h] == FREE and base - v[g] - v[h] < cutoff:
                    n_open += 1
            if n_open > most:
                return False
    return True


@inlined
def buy_two(search, tree, trace, gap, node, room, base, point):
    """Close a node at which no three free predictors are affordable together.

    One after the other, strongest first, a free predictor is bought, which leaves a node with one
    more purchase, and then forbidden, until the node's own point bounds what is left. `base` and
    `point` are those of the node's relaxation.
    """
    data, limits, status = search.data, search.limits, search.status
    endgame, v = search.endgame, search.relaxation.values.v
    candidates = np.empty(status.size, np.int64)
    _fit_base(search)
    while True:
        # 1. Let the node's point bound all that is left.
        cutoff = search.incumbent.score.objective * (1.0 - gap)
        bound = base - complete(limits, search.relaxation.values, status, room.left, room.count)
        if bound >= cutoff:
            close_node(tree, trace, node, bound, point)
            break
        first = NOTHING
        for g in range(status.size):
            if status[g] == FREE and (first < 0 or v[g] > v[first]):
                first = g
        if first < 0:
            _close_selection(search, tree, trace, gap, node)
            break
        # 2. Buy the strongest, and close that node.
        child = create_children(tree, trace, node, first)
        left = room.left - price_now(limits, status, first)
        status[first] = IN
        n_open, n_closed = NONE, NONE
        strongest = 0.0
        for g in range(status.size):
            if status[g] == FREE and price_now(limits, status, g) <= left:
                if base - v[first] - v[g] < cutoff:
                    candidates[n_open] = g
                    n_open += 1
                else:
                    if n_closed == 0:
                        record_step(trace, Kind.ONE, child + 1, point)
                    record_member(trace, g)
                    n_closed += 1
                    strongest = max(strongest, v[g])
        if n_closed > 0:
            close_leaf(tree, base - v[first] - strongest)
        endgame.trial[first] = IN
        if n_open > 0:
            n = _load_predictor(data, endgame, endgame.now.n_bought, first)
            _close_candidates(search, tree, trace, gap, child + 1, n, candidates, n_open)
        if is_listing(search.listing) or n_open + n_closed == 0:
            _close_selection(search, tree, trace, gap, child + 1)
        endgame.trial[first] = OUT
        # 3. Forbid it.
        status[first] = OUT
        node = child


@kernel
def _fit_base(search):
    """Fit what is bought, and note how the free columns relate to it."""
    data, fit, endgame, status = search.data, search.fit, search.endgame, search.status
    trial, base, now, hessian = endgame.trial, endgame.base, endgame.now, endgame.hessian
    for g in range(status.size):
        trial[g] = IN if status[g] == IN else OUT
    start_from_rows(fit, search.relaxation.rows)
    theta0, objective, _ = fit_selection(data, fit, trial, 0.0, math.inf, COARSE, Start.ROWS)
    if not is_listing(search.listing):
        offer(search, trial, theta0, objective)
    copy(base.u, fit.rows.u)
    copy(base.a, fit.rows.a)
    copy(base.b, fit.rows.b)
    copy(base.d, fit.rows.d)
    copy(base.q, fit.rows.q)
    base.entropy.positive = fit.rows.entropy.positive
    base.entropy.negative = fit.rows.entropy.negative
    base.kink.width = fit.rows.kink.width
    copy(endgame.theta, fit.theta)
    d = base.d
    now.intercept = theta0
    now.objective = objective
    now.mismatch = mismatch_of(data, base.q)
    now.total = total_curvature(data, d)
    now.n_bought = list_columns(data, trial, hessian.columns)
    fill_hessian(data, hessian, d, now.n_bought, now.total)
    for i in range(now.n_bought):
        j = hessian.columns[i]
        endgame.mean[j] = hessian.mean[i]
        if _is_held(data, endgame, j):
            hessian.matrix[i, i] = _HELD
    for g in range(status.size):
        if status[g] == FREE:
            for j in range(data.start[g], data.start[g + 1]):
                mean = weigh_column(data, j, d, hessian.weighted)
                endgame.mean[j] = mean / now.total
                row = endgame.cross[j]
                cross_products(data.X, hessian.weighted, hessian.columns, now.n_bought, row)
                for i in range(now.n_bought):
                    row[i] -= mean * hessian.mean[i]
                square = dot(hessian.weighted, data.X[j]) - mean * endgame.mean[j]
                endgame.square[j] = max(square, 0.0) * (1.0 + 1e-13) + data.ridge
                if _is_held(data, endgame, j):
                    endgame.square[j] = _HELD
    now.is_solved = 1 if _solve_rows(endgame, FIRST, now.n_bought) else 0


@kernel
def _is_held(data, endgame, j):
    """Note the downhill slope of a column; return whether it points beyond a limit it is at."""
    theta = endgame.theta[j]
    positive, negative = column_slopes(data, j, endgame.base.q)
    endgame.slope[j] = (
        endgame.now.mismatch * endgame.mean[j] - (positive + negative) - data.ridge * theta
    )
    is_upper, is_lower = theta == data.upper[j], theta == data.lower[j]
    return (is_upper and endgame.slope[j] > 0.0) or (is_lower and endgame.slope[j] < 0.0)


@kernel
def _load_predictor(data, endgame, n, g):
    """Add the columns of predictor g to the n rows of the Hessian; return how many there are."""
    hessian, now = endgame.hessian, endgame.now
    columns, means = hessian.columns, hessian.mean
    for j in range(data.start[g], data.start[g + 1]):
        row = hessian.matrix[n]
        columns[n] = j
        means[n] = endgame.mean[j]
        for i in range(now.n_bought):
            row[i] = endgame.cross[j, i]
        if n > now.n_bought:
            mean = weigh_column(data, j, endgame.base.d, hessian.weighted)
            for i in range(now.n_bought, n):
                row[i] = dot(hessian.weighted, data.X[columns[i]]) - mean * means[i]
        row[n] = endgame.square[j]
        n += 1
    return n


@kernel
def _solve_rows(endgame, first, n):
    """Factorise rows first to n of the Hessian, and substitute forward; return whether it can be.

    hessian.step[:n] becomes y with L y = downhill slope: the model falls by y_i^2 / 2 per column.
    """
    hessian = endgame.hessian
    if not factorise(hessian.matrix, first, n):
        return False
    for i in range(first, n):
        hessian.step[i] = endgame.slope[hessian.columns[i]]
    forward(hessian.matrix, first, n, hessian.step)
    return True


@kernel
def _fall(endgame, first, n):
    """What the model falls by in rows first to n."""
    y = endgame.hessian.step
    total = 0.0
    for i in range(first, n):
        total += 0.5 * y[i] * y[i]
    return total


@kernel
def _close_candidates(search, tree, trace, gap, node, n, candidates, n_candidates):
    """Bound or fit, for each candidate, endgame.trial plus that one.

    The n columns of the trial are the first rows of the Hessian.
    """
    data, endgame, score = search.data, search.endgame, search.incumbent.score
    gain, now = endgame.gain, endgame.now
    # 1. Sort the candidates by predicted gain; unknown gains are infinite.
    is_solved = now.is_solved == 1 and _solve_rows(endgame, now.n_bought, n)
    predicted = now.objective - _fall(endgame, FIRST, n) if is_solved else -math.inf
    for i in range(n_candidates):
        g = candidates[i]
        size = _load_predictor(data, endgame, n, g)
        is_known = is_solved and _solve_rows(endgame, n, size)
        gain[g] = _fall(endgame, n, size) if is_known else math.inf
    sort_by(gain, candidates, n_candidates)
    first = NONE
    largest = LARGEST_BATCH
    while first < n_candidates:
        # 2. Gather a batch, weakest first.
        cutoff = score.objective * (1.0 - gap)
        last = first + 1
        total = gain[candidates[first]]
        while last < min(n_candidates, first + largest):
            total += gain[candidates[last]]
            if total > _BATCH_SHARE * (predicted - cutoff):
                break
            last += 1
        # 3. Close it by the moved point, or else try fewer; what remains is fitted.
        bound, size = _moved_bound(data, endgame, n, candidates, first, last, cutoff)
        if bound >= cutoff:
            point = record_moved(
                trace, endgame.theta, now.intercept, endgame.hessian.columns, endgame.step, size,
                now.step0, endgame.base.kink.width,
            )  # fmt: skip
        elif last - first > 1:
            largest = (last - first) // 2
            continue
        else:
            endgame.trial[candidates[first]] = IN
            bound, point = _fit_trial(search, trace, cutoff)
            endgame.trial[candidates[first]] = OUT
        # 4. Write down what closed it.
        close_leaf(tree, bound)
        record_step(trace, Kind.ONE, node, point)
        for i in range(first, last):
            record_member(trace, candidates[i])
        first = last
        largest = LARGEST_BATCH


@kernel
def _moved_bound(data, endgame, n, candidates, first, last, cutoff):
    """Bound on the trial plus any one of the batch: the base's dual point, moved by a Newton step.

    Returns the bound, or -infinity if it is predicted not to reach the cutoff, and the number of
    columns of the step, which is left in endgame.step and now.step0.
    """
    hessian, step, moved, now = endgame.hessian, endgame.step, endgame.moved, endgame.now
    size = n
    if endgame.gain[candidates[last - 1]] == math.inf:
        return -math.inf, size
    for i in range(first, last):
        size = _load_predictor(data, endgame, size, candidates[i])
    if not _solve_rows(endgame, n, size) or now.objective - _fall(endgame, FIRST, size) < cutoff:
        return -math.inf, size
    for i in range(size):
        step[i] = hessian.step[i]
    backward(hessian.matrix, size, step)
    now.step0 = intercept_step(hessian, step, size, now.mismatch, now.total)
    bound = moved_bound(data, endgame.base, moved, hessian.columns, step, size, now.step0, n)
    largest = 0.0
    for i in range(first, last):
        largest = max(largest, predictor_value(data, moved.q, candidates[i]))
    return bound - largest, size


@kernel
def _fit_trial(search, trace, cutoff):
    """Fit the trial from the base, keep the model, and record its point; return bound and point."""
    fit, endgame = search.fit, search.endgame
    start_from_rows(fit, endgame.base)
    copy(fit.theta, endgame.theta)
    theta0, bound = keep_selection(
        search, endgame.trial, endgame.now.intercept, cutoff, Start.MODEL
    )
    return bound, record_fit(trace, fit, theta0)


@kernel
def _close_selection(search, tree, trace, gap, node):
    """Close the node whose only selection is the trial."""
    bound, point = _fit_trial(search, trace, search.incumbent.score.objective * (1.0 - gap))
    close_node(tree, trace, node, bound, point)

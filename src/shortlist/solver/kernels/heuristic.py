"""Incumbents: greedy buying, swaps, and rounding of a relaxation."""

import math
from typing import NamedTuple

from .cholesky import FIRST, factorise, forward
from .fields import STATUS, Array
from .fit import COARSE, FINE, Start, start_from_rows
from .hessian import fill_hessian, list_columns
from .incumbent import try_selection
from .layout import FREE, IN, OUT, copy, linear_predictor
from .oracle import NOTHING, price_now
from .point import column_slopes, total_curvature
from .product import cross_products, curvature_of, weigh_column
from .reference import inlined, kernel
from .room import forbid_unaffordable
from .rows import dot

_GREEDY = 1e-2
_CLOSE_LOOKS = 8


class Heuristic(NamedTuple):
    """Selections on the way to an incumbent."""

    trial: STATUS  # what is bought
    held: STATUS  # the incumbent that swaps start from
    gain: Array("n_predictors")  # first estimate of what a purchase gains


@inlined
def round_relaxation(search, limits):
    """Buy by descending z, ties by v, what is affordable, and fit it."""
    trial, relaxation = search.heuristic.trial, search.relaxation
    z, v = relaxation.z, relaxation.values.v
    copy(trial, search.status)
    while True:
        n_free, _, _ = forbid_unaffordable(limits, trial)
        if n_free == 0:
            break
        best = -1
        for g in range(trial.size):
            if trial[g] == FREE and (
                best < 0 or z[g] > z[best] or (z[g] == z[best] and v[g] > v[best])
            ):
                best = g
        trial[best] = IN
    if not _is_same(trial, search.incumbent.status):
        start_from_rows(search.fit, relaxation.rows)
        try_selection(search, trial, 0.0, math.inf, FINE, Start.ROWS)


@kernel
def _is_same(status, other):
    for g in range(status.size):
        if (status[g] == IN) != (other[g] == IN):
            return False
    return True


@kernel
def buy_greedily(search, limits, status, theta0):
    """Extend the bought predictors one by one, each time by the largest gain per price, and fit.

    search.fit holds a fitted model of what is bought, of intercept theta0; status ends with no free
    predictor.
    """
    n_free, _, _ = forbid_unaffordable(limits, status)
    while n_free > 0:
        status[_most_promising(search, limits, status)] = IN
        theta0, _, _ = try_selection(search, status, theta0, math.inf, _GREEDY, Start.MODEL)
        n_free, _, _ = forbid_unaffordable(limits, status)
    try_selection(search, status, theta0, math.inf, FINE, Start.MODEL)


@kernel
def _most_promising(search, limits, status):
    """The free predictor whose Newton decrement, given the bought ones, is largest per price.

    Expects the rows of the fitted model.
    """
    data, fit, gain = search.data, search.fit, search.heuristic.gain
    q, d = fit.rows.q, fit.rows.d
    total = total_curvature(data, d)
    n = list_columns(data, status, fit.hessian.columns)
    fill_hessian(data, fit.hessian, d, n, total)
    conditional = n > 0 and factorise(fit.hessian.matrix, FIRST, n)
    # A first estimate ignores what the bought columns explain; only the best are looked at closely.
    for g in range(status.size):
        gain[g] = 0.0
        if status[g] == FREE:
            decrement = 0.0
            for j in range(data.start[g], data.start[g + 1]):
                curvature = curvature_of(data, j, d, total)
                decrement += _useful_slope(data, j, q) ** 2 / (curvature + data.ridge)
            price = price_now(limits, status, g) if limits.has_budget else 1.0
            gain[g] = decrement / price if price > 0.0 else math.inf
    best, best_gain = -1, -1.0
    for _ in range(_CLOSE_LOOKS):
        pick = NOTHING
        for g in range(status.size):
            if status[g] == FREE and gain[g] >= 0.0 and (pick < 0 or gain[g] > gain[pick]):
                pick = g
        if pick < 0:
            break
        refined = gain[pick]
        if conditional:
            refined *= _share_not_explained(data, fit, n, pick, total)
        if best < 0 or refined > best_gain:
            best, best_gain = pick, refined
        gain[pick] = -1.0
    return best


@kernel
def _useful_slope(data, j, q):
    """The slope of a column that is not bought, 0 if only a coefficient of the wrong sign gains."""
    positive, negative = column_slopes(data, j, q)
    slope = positive + negative
    is_useless = (slope < 0.0 and data.upper[j] == 0.0) or (slope > 0.0 and data.lower[j] == 0.0)
    return 0.0 if is_useless else slope


@kernel
def _share_not_explained(data, fit, n, g, total):
    """Newton decrement of predictor g given the n bought columns, relative to it without them."""
    hessian, q, d = fit.hessian, fit.rows.q, fit.rows.d
    step, weighted = hessian.step, hessian.weighted
    alone, given = 0.0, 0.0
    for j in range(data.start[g], data.start[g + 1]):
        slope = _useful_slope(data, j, q)
        shift = weigh_column(data, j, d, weighted)
        curvature = dot(weighted, data.X[j]) - shift * shift / total
        alone += slope**2 / (max(curvature, 0.0) + data.ridge)
        cross_products(data.X, weighted, hessian.columns, n, step)
        for i in range(n):
            step[i] -= shift * hessian.mean[i]
        forward(hessian.matrix, FIRST, n, step)
        for i in range(n):
            curvature -= step[i] * step[i]
        given += slope**2 / (max(curvature, 0.0) + data.ridge)
    return given / alone if alone > 0.0 else 1.0


@inlined
def swap(search):
    """Drop each predictor of the incumbent in turn and buy greedily instead, while that helps."""
    incumbent, root = search.incumbent, search.root
    held, trial = search.heuristic.held, search.heuristic.trial
    improved = True
    while improved:
        improved = False
        objective = incumbent.score.objective
        copy(held, incumbent.status)
        for dropped in range(held.size):
            if held[dropped] != IN or root[dropped] == IN:
                continue
            for g in range(held.size):
                trial[g] = IN if held[g] == IN else root[g]
            trial[dropped] = OUT
            theta0 = incumbent.score.intercept
            linear_predictor(search.data, incumbent.theta, theta0, search.fit.rows.u)
            theta0, _, _ = try_selection(search, trial, theta0, math.inf, COARSE, Start.PREDICTOR)
            buy_greedily(search, search.limits, trial, theta0)
            if incumbent.score.objective < objective * (1.0 - 1e-12):
                improved = True
                break

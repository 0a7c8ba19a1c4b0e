"""Incumbents: greedy buying, swaps, and rounding of a relaxation."""

import math

from numba import njit

from .cholesky import factorise, forward
from .fit import MODEL, PREDICTOR, ROWS, fit_columns, hessian_rows
from .gram import cross_products, curvature_of, weigh_column
from .layout import BEST_INTERCEPT, FREE, IN, OUT, UPPER, columns_in, linear_predictor
from .oracle import price_now, remaining_limits
from .point import column_slopes
from .rows import dot, total_of

# Relative accuracy of fits that may be the answer, and of those on the way to one.
FINE, COARSE = 1e-10, 1e-3
_GREEDY = 1e-2
_CLOSE_LOOKS = 8


@njit(cache=True, error_model="numpy")
def fit_status(data, work, status, theta0, cutoff, tolerance, known):
    """Fit the bought predictors, see `fit_columns`, and keep the model if it is best.

    Returns (intercept, objective, bound).
    """
    n = columns_in(data.start, status, work.theta, work.columns)
    theta0, objective, bound = fit_columns(data, work, n, theta0, cutoff, tolerance, known)
    if objective < work.scalar[UPPER]:
        work.scalar[UPPER] = objective
        work.scalar[BEST_INTERCEPT] = theta0
        work.theta_best[:] = work.theta
        for g in range(status.size):
            work.status_best[g] = IN if status[g] == IN else OUT
    return theta0, objective, bound


@njit(cache=True, error_model="numpy")
def round_relaxation(data, limits, work, status, theta0):
    """Buy by descending z, ties by v, what is affordable, and fit it."""
    trial = work.status_trial
    trial[:] = status
    while True:
        left, count = remaining_limits(limits, trial)
        best = -1
        for g in range(trial.size):
            if trial[g] == FREE:
                if count <= 0 or price_now(limits, trial, g) > left:
                    trial[g] = OUT
                elif (
                    best < 0
                    or work.z[g] > work.z[best]
                    or (work.z[g] == work.z[best] and work.v[g] > work.v[best])
                ):
                    best = g
        if best < 0:
            break
        trial[best] = IN
    if not _is_best(trial, work.status_best):
        fit_status(data, work, trial, theta0, math.inf, FINE, ROWS)


@njit(cache=True, error_model="numpy")
def _is_best(status, best):
    for g in range(status.size):
        if (status[g] == IN) != (best[g] == IN):
            return False
    return True


@njit(cache=True, error_model="numpy")
def buy_greedily(data, limits, work, status, theta0):
    """Extend the bought predictors one by one, each time by the largest gain per price, and fit.

    work.theta and theta0 are a fitted model of what is bought, to which the rows in work belong;
    status ends with no free predictor.
    """
    while True:
        left, count = remaining_limits(limits, status)
        n_free = 0
        for g in range(status.size):
            if status[g] == FREE:
                if count <= 0 or price_now(limits, status, g) > left:
                    status[g] = OUT
                else:
                    n_free += 1
        if n_free == 0:
            fit_status(data, work, status, theta0, math.inf, FINE, MODEL)
            return
        status[_most_promising(data, limits, work, status)] = IN
        theta0, _, _ = fit_status(data, work, status, theta0, math.inf, _GREEDY, MODEL)


@njit(cache=True, error_model="numpy")
def _most_promising(data, limits, work, status):
    """The free predictor whose Newton decrement, given the bought ones, is largest per price.

    Expects work.q and work.d of the fitted model.
    """
    n = columns_in(data.start, status, work.theta, work.columns)
    total = total_of(work.d)
    hessian_rows(data, work, 0, n, total)
    conditional = factorise(work.hessian, 0, n)
    # A first score ignores what the bought columns explain; only the best are looked at closely.
    for g in range(status.size):
        work.gain[g] = 0.0
        if status[g] == FREE:
            gain = 0.0
            for j in range(data.start[g], data.start[g + 1]):
                positive, negative = column_slopes(data.X, j, work.q, data.n_positive)
                curvature = curvature_of(data.X, j, work.d, data.n_positive, total)
                gain += (positive + negative) ** 2 / (curvature + data.ridge)
            price = price_now(limits, status, g) if limits.has_budget else 1.0
            work.gain[g] = gain / price if price > 0.0 else math.inf
    best, best_score = -1, -1.0
    for _ in range(_CLOSE_LOOKS):
        pick = -1
        for g in range(status.size):
            if status[g] == FREE and work.gain[g] >= 0.0:
                if pick < 0 or work.gain[g] > work.gain[pick]:
                    pick = g
        if pick < 0:
            break
        score = work.gain[pick]
        if conditional and n > 0:
            plain, refined = 0.0, 0.0
            for j in range(data.start[pick], data.start[pick + 1]):
                positive, negative = column_slopes(data.X, j, work.q, data.n_positive)
                shift = weigh_column(data.X, j, work.d, data.n_positive, work.scratch)
                curvature = dot(work.scratch, data.X[j]) - shift * shift / total
                plain += (positive + negative) ** 2 / (max(curvature, 0.0) + data.ridge)
                cross_products(data.X, work.scratch, work.columns, n, work.step)
                for i in range(n):
                    work.step[i] -= shift * work.mean[i]
                forward(work.hessian, 0, n, work.step)
                for i in range(n):
                    curvature -= work.step[i] * work.step[i]
                refined += (positive + negative) ** 2 / (max(curvature, 0.0) + data.ridge)
            score *= refined / plain if plain > 0.0 else 1.0
        if score > best_score:
            best, best_score = pick, score
        work.gain[pick] = -1.0
    return best


@njit(cache=True, error_model="numpy")
def swap(data, limits, work, root):
    """Drop each predictor of the incumbent in turn and buy greedily instead, while that helps."""
    improved = True
    while improved:
        improved = False
        upper = work.scalar[UPPER]
        held = work.status_trial
        held[:] = work.status_best
        for dropped in range(held.size):
            if held[dropped] != IN or root[dropped] == IN:
                continue
            trial = work.status_swap
            for g in range(held.size):
                trial[g] = IN if held[g] == IN else root[g]
            trial[dropped] = OUT
            work.theta[:] = work.theta_best
            theta0 = work.scalar[BEST_INTERCEPT]
            linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
            theta0, _, _ = fit_status(data, work, trial, theta0, math.inf, COARSE, PREDICTOR)
            buy_greedily(data, limits, work, trial, theta0)
            if work.scalar[UPPER] < upper * (1.0 - 1e-12):
                improved = True
                break

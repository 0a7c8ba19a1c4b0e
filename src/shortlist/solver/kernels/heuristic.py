"""Incumbents: greedy buying, swaps, and rounding of a relaxation."""

import math

from numba import njit

from .cholesky import factorise, substitute
from .fit import fit_columns
from .gram import cross_products, weigh_column
from .layout import BEST_INTERCEPT, FREE, IN, OUT, UPPER, columns_in, linear_predictor
from .oracle import price_now, remaining_limits
from .point import column_slopes
from .rows import total_of

_FIT_TOLERANCE = 1e-10


@njit(cache=True)
def fit_status(data, work, status, theta0, cutoff):
    """Fit the bought predictors from the linear predictor in work.u; keep the model if it is best.

    Returns (intercept, objective, bound).
    """
    n = columns_in(data.start, status, work.theta, work.columns)
    theta0, objective, bound = fit_columns(data, work, n, theta0, cutoff, _FIT_TOLERANCE)
    if objective < work.scalar[UPPER]:
        work.scalar[UPPER] = objective
        work.scalar[BEST_INTERCEPT] = theta0
        work.theta_best[:] = work.theta
        for g in range(status.size):
            work.status_best[g] = IN if status[g] == IN else OUT
    return theta0, objective, bound


@njit(cache=True)
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
        work.theta_saved[:] = work.theta
        fit_status(data, work, trial, theta0, math.inf)
        work.theta[:] = work.theta_saved


@njit(cache=True)
def _is_best(status, best):
    for g in range(status.size):
        if (status[g] == IN) != (best[g] == IN):
            return False
    return True


@njit(cache=True)
def buy_greedily(data, limits, work, status, theta0):
    """Extend the bought predictors one by one, each time by the largest gain per price, and fit.

    work.theta and theta0 are a fitted model of what is bought; status ends with no free predictor.
    """
    while True:
        left, count = remaining_limits(limits, status)
        any_free = False
        for g in range(status.size):
            if status[g] == FREE:
                if count <= 0 or price_now(limits, status, g) > left:
                    status[g] = OUT
                else:
                    any_free = True
        if not any_free:
            return
        best = _most_promising(data, limits, work, status)
        status[best] = IN
        theta0, objective, bound = fit_status(data, work, status, theta0, math.inf)


@njit(cache=True)
def _most_promising(data, limits, work, status):
    """The free predictor whose Newton decrement, given the bought ones, is largest per price.

    Expects work.q, work.d of the fitted model.
    """
    n = columns_in(data.start, status, work.theta, work.columns)
    total = total_of(work.d)
    hessian, mean = work.hessian, work.mean
    for i in range(n):
        shift = weigh_column(data.X, work.columns[i], work.d, data.n_positive, work.scratch)
        mean[i] = shift / total
        cross_products(data.X, work.scratch, work.columns, i + 1, hessian[i])
        for k in range(i + 1):
            hessian[i, k] -= shift * mean[k]
        hessian[i, i] += data.ridge
    conditional = n > 0 and factorise(hessian, n)
    best, best_score = -1, -1.0
    for g in range(status.size):
        if status[g] != FREE:
            continue
        gain = 0.0
        for j in range(data.start[g], data.start[g + 1]):
            positive, negative = column_slopes(data.X, j, work.q, data.n_positive)
            slope = positive + negative
            shift = weigh_column(data.X, j, work.d, data.n_positive, work.scratch)
            x = data.X[j]
            curvature = -shift * shift / total
            for m in range(x.size):
                curvature += work.scratch[m] * x[m]
            if conditional:
                cross_products(data.X, work.scratch, work.columns, n, work.step)
                for i in range(n):
                    work.step[i] -= shift * mean[i]
                    work.solution[i] = work.step[i]
                substitute(hessian, n, work.solution)
                for i in range(n):
                    curvature -= work.step[i] * work.solution[i]
            gain += slope * slope / (max(curvature, 0.0) + data.ridge)
        price = price_now(limits, status, g) if limits.has_budget else 1.0
        score = gain / price if price > 0.0 else math.inf
        if score > best_score:
            best, best_score = g, score
    return best


@njit(cache=True)
def swap(data, limits, work, root):
    """Drop each predictor of the incumbent in turn and buy greedily without it, while that helps."""
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
            theta0, objective, bound = fit_status(data, work, trial, theta0, math.inf)
            buy_greedily(data, limits, work, trial, theta0)
            if work.scalar[UPPER] < upper * (1.0 - 1e-12):
                improved = True
                break

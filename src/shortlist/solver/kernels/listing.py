"""Every selection whose objective is below a threshold: branch and bound that keeps all leaves."""

import math

from numba import njit

from .fit import PREDICTOR, fit_columns
from .layout import (
    DIVE,
    FREE,
    IN,
    LEFT_OUT,
    LISTED,
    NODES,
    OPEN,
    OUT,
    SERIAL,
    UPPER,
    columns_in,
    linear_predictor,
)
from .oracle import complete
from .point import evaluate_predictors, evaluate_rows, to_null_model
from .relaxation import relax
from .search import pick_predictor, settle
from .tree import DIVE_SLOT, fill, pop, push

# Accuracy of the models that are listed, and of bounds.
_FINE, _COARSE = 1e-13, 1e-6
_BALANCE = 1e-4


@njit(cache=True, error_model="numpy", nogil=True)
def run_listing(data, limits, work, tree, root, listing, max_nodes):
    """Process up to max_nodes nodes; return whether the tree is exhausted.

    Models below work.scalar[UPPER] are listed. When there are more than places, the best are kept,
    counter[LEFT_OUT] counts the others and the threshold falls to the worst that is kept. Returns
    early, with False, when the tree is full.
    """
    counter, scalar, status = work.counter, work.scalar, work.status
    if counter[SERIAL] == 0:
        _start(data, work, tree, root)
    stop = counter[NODES] + max_nodes
    while counter[OPEN] + counter[DIVE] > 0:
        if counter[NODES] >= stop or counter[OPEN] == tree.heap.size:
            return False
        slot = DIVE_SLOT if counter[DIVE] == 1 else pop(tree, counter)
        counter[DIVE] = 0
        if tree.bound[slot] >= scalar[UPPER]:
            continue
        status[:] = tree.status[slot]
        work.theta[:] = tree.theta[slot]
        theta0, mu = tree.theta0[slot], tree.mu[slot]
        counter[NODES] += 1
        left, count, capacity, n_free, all_affordable = settle(limits, work, status)
        base, value = 0.0, 0.0
        if n_free > 0:
            if all_affordable:
                base, value, theta0 = buy_all(
                    data, limits, work, status, left, count, theta0, scalar[UPPER]
                )
            else:
                base, value, theta0, mu = relax(
                    data, limits, work, status, left, count, capacity, theta0, mu, scalar[UPPER],
                    False,
                )  # fmt: skip
            if base - value >= scalar[UPPER]:
                continue
            if _decide(work, status, base, scalar[UPPER]):
                left, count, capacity, n_free, _ = settle(limits, work, status)
                if left < 0.0 or count < 0:
                    continue
        if n_free == 0:
            _list_model(data, work, status, theta0, listing)
            continue
        pick = pick_predictor(work, status)
        child = counter[SERIAL]
        counter[SERIAL] += 2
        status[pick] = OUT
        bound = base - work.value_out[pick]
        push(tree, counter, child, status, work.theta, theta0, mu, bound, -1)
        status[pick] = IN
        bound = base - work.value_in[pick]
        fill(tree, DIVE_SLOT, child + 1, status, work.theta, theta0, mu, bound, -1)
        counter[DIVE] = 1
    return True


@njit(cache=True, error_model="numpy")
def _start(data, work, tree, root):
    theta0 = to_null_model(data, work)
    push(tree, work.counter, 0, root, work.theta, theta0, 0.0, -math.inf, -1)
    work.counter[SERIAL] = 1


@njit(cache=True, error_model="numpy")
def buy_all(data, limits, work, status, left, count, theta0, cutoff):
    """The relaxation of a node at which everything is affordable: fit all of it.

    Returns base, value and theta0 as `relax` does.
    """
    for g in range(status.size):
        work.status_trial[g] = OUT if status[g] == OUT else IN
    n = columns_in(data.start, work.status_trial, work.theta, work.columns)
    linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
    theta0, _, _ = fit_columns(data, work, n, theta0, cutoff, _COARSE, PREDICTOR)
    theta0, _, base, _ = evaluate_rows(data, work, theta0, _BALANCE)
    evaluate_predictors(
        data.X, work.q, data.n_positive, work.rho, data.ridge, data.start, status,
        work.gradient, work.v,
    )  # fmt: skip
    for g in range(status.size):
        work.z[g] = 1.0
        if status[g] == IN:
            base -= work.v[g]
    return base, complete(limits, work, status, left, count, True), theta0


@njit(cache=True, error_model="numpy")
def _decide(work, status, base, cutoff):
    """Decide the predictors whose other value leads to nothing below the cutoff."""
    decided = False
    for g in range(status.size):
        if status[g] == FREE:
            if base - work.value_in[g] >= cutoff:
                status[g] = OUT
                decided = True
            elif base - work.value_out[g] >= cutoff:
                status[g] = IN
                decided = True
    return decided


@njit(cache=True, error_model="numpy")
def _list_model(data, work, status, theta0, listing):
    """Fit what is bought, and list it if it is good enough."""
    n = columns_in(data.start, status, work.theta, work.columns)
    linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
    cutoff = work.scalar[UPPER]
    theta0, objective, _ = fit_columns(data, work, n, theta0, cutoff, _FINE, PREDICTOR)
    if not objective < cutoff:
        return
    n_places = listing.objective.size
    place = work.counter[LISTED]
    if place < n_places:
        work.counter[LISTED] += 1
    else:
        work.counter[LEFT_OUT] += 1
        place = 0
        for i in range(n_places):
            if listing.objective[i] > listing.objective[place]:
                place = i
        if objective >= listing.objective[place]:
            work.scalar[UPPER] = listing.objective[place]
            return
    listing.status[place] = status
    listing.theta[place] = work.theta
    listing.theta0[place] = theta0
    listing.objective[place] = objective
    if work.counter[LEFT_OUT] > 0:
        worst = 0.0
        for i in range(n_places):
            worst = max(worst, listing.objective[i])
        work.scalar[UPPER] = worst

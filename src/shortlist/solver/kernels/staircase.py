"""The best model for every whole budget at once, in one tree.

A dual point bounds a node at every budget, because the knapsack table has the best value for every
amount. A node is alive for a range of budgets. It is relaxed at the highest of them, loses those at
which it is bounded away, and is relaxed again at the next highest, until the highest stays alive.
"""

import math

import numpy as np
from numba import njit

from .fit import PREDICTOR, fit_columns
from .heuristic import COARSE, FINE, buy_greedily, fit_status, round_relaxation
from .layout import (
    BEST_INTERCEPT,
    DIVE,
    FREE,
    IN,
    NODES,
    OPEN,
    OUT,
    SERIAL,
    UPPER,
    Limits,
    columns_in,
    linear_predictor,
)
from .listing import buy_all
from .oracle import remaining_limits, value_table
from .point import to_null_model
from .relaxation import relax
from .search import is_heuristic_turn, pick_predictor, settle
from .trace import BOUND, BRANCH, FIX, NONE, has_room, record_member, record_point, record_step
from .tree import DIVE_SLOT, fill, pop, push

# Predictors that the relaxation buys to this share are tested for being indispensable.
_LIKELY = 0.5


@njit(cache=True, error_model="numpy", nogil=True)
def run_staircase(data, limits, work, tree, ranges, trace, root, stairs, gap, max_nodes):
    """Process up to max_nodes nodes; return whether the tree is exhausted.

    `ranges` holds the lowest and the highest budget at which the node in each slot is alive.
    Returns early, with False, when the tree or the trace is full.
    """
    counter, status = work.counter, work.status
    n_budgets = stairs.upper.size
    if counter[SERIAL] == 0:
        _start(data, limits, work, tree, ranges, root, stairs)
    stop = counter[NODES] + max_nodes
    while counter[OPEN] + counter[DIVE] > 0:
        if counter[NODES] >= stop or counter[OPEN] == tree.heap.size:
            return False
        if not staircase_has_room(trace, work, n_budgets):
            return False
        slot = DIVE_SLOT if counter[DIVE] == 1 else pop(tree, counter)
        counter[DIVE] = 0
        status[:] = tree.status[slot]
        work.theta[:] = tree.theta[slot]
        theta0, mu, node = tree.theta0[slot], tree.mu[slot], tree.serial[slot]
        spent = _spent(limits, status)
        low, high = max(ranges[0, slot], spent), ranges[1, slot]
        counter[NODES] += 1
        # 1. Relax at the highest budget, until that one stays alive.
        n_free, base, point = 0, 0.0, -1
        table = np.zeros(1)
        while low <= high:
            here = _at_budget(limits, high)
            left, count, capacity, n_free, all_affordable = settle(here, work, status)
            if n_free == 0:
                break
            cutoff = stairs.upper[high] * (1.0 - gap)
            if all_affordable:
                base, _, theta0 = buy_all(data, here, work, status, left, count, theta0, cutoff)
            else:
                base, _, theta0, mu = relax(
                    data, here, work, status, left, count, capacity, theta0, mu, cutoff, False
                )
            point = record_point(trace, counter, work.theta, theta0)
            table = value_table(here, work, status, int(left), -1)
            before = high
            while low <= high and _is_closed(stairs, gap, high, base - table[high - spent]):
                high -= 1
            if high < before:
                _record_bound(trace, counter, node, point, high + 1, before)
            before = low
            while low <= high and _is_closed(stairs, gap, low, base - table[low - spent]):
                low += 1
            if low > before:
                _record_bound(trace, counter, node, point, before, low - 1)
            if high == int(left) + spent:
                break
        if low > high:
            continue
        if n_free > 0:
            # 2. Look for better models, and decide what the bounds decide.
            if is_heuristic_turn(counter[NODES]):
                work.theta_saved[:] = work.theta
                work.scalar[UPPER] = math.inf
                round_relaxation(data, _at_budget(limits, high), work, status, theta0)
                _offer(limits, work, stairs)
                work.theta[:] = work.theta_saved
            fixed = _fix(
                limits, work, trace, status, stairs, gap, table, base, spent, low, high, node, point
            )
            if fixed:
                spent = _spent(limits, status)
                low = max(low, spent)
                left, count, _, n_free, _ = settle(_at_budget(limits, high), work, status)
                if low > high or count < 0:
                    record_step(trace, counter, NONE, node, -1)
                    continue
        # 3. Close the node if nothing is left to buy, else branch.
        if n_free == 0:
            linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
            n = columns_in(data.start, status, work.theta, work.columns)
            cutoff = stairs.upper[low] * (1.0 - gap)
            theta0, objective, bound = fit_columns(data, work, n, theta0, cutoff, FINE, PREDICTOR)
            _keep(stairs, status, work.theta, theta0, objective, spent)
            for b in range(low, high + 1):
                stairs.closed[b] = min(stairs.closed[b], bound)
            point = record_point(trace, counter, work.theta, theta0)
            _record_bound(trace, counter, node, point, low, high)
            continue
        pick = pick_predictor(work, status)
        child = counter[SERIAL]
        counter[SERIAL] += 2
        record_step(trace, counter, BRANCH, node, child)
        record_member(trace, counter, pick)
        status[pick] = OUT
        key = base - table[high - spent] if high - spent < table.size else base
        free_slot = tree.vacant[counter[OPEN]]
        ranges[0, free_slot], ranges[1, free_slot] = low, high
        push(tree, counter, child, status, work.theta, theta0, mu, key, -1)
        status[pick] = IN
        ranges[0, DIVE_SLOT], ranges[1, DIVE_SLOT] = low, high
        fill(tree, DIVE_SLOT, child + 1, status, work.theta, theta0, mu, key, -1)
        counter[DIVE] = 1
    return True


@njit(cache=True, error_model="numpy")
def staircase_has_room(trace, work, n_budgets):
    """Whether the largest node fits: a point and a step for every budget, and one of its own."""
    n_predictors, n_columns = work.status.size, work.theta.size
    return has_room(trace, work.counter, n_predictors + 2 * n_budgets, n_columns, n_columns)


@njit(cache=True, error_model="numpy")
def _start(data, limits, work, tree, ranges, root, stairs):
    """Put the root on the tree, and buy greedily at every budget."""
    n_budgets = stairs.upper.size
    theta0 = to_null_model(data, work)
    for b in range(n_budgets):
        trial = work.status_swap
        trial[:] = root
        to_null_model(data, work)
        here = _at_budget(limits, b)
        left, _ = remaining_limits(here, trial)
        if left < 0.0:
            continue
        work.scalar[UPPER] = math.inf
        intercept, _, _ = fit_status(data, work, trial, theta0, math.inf, COARSE, PREDICTOR)
        buy_greedily(data, here, work, trial, intercept)
        _offer(limits, work, stairs)
    work.theta[:] = 0.0
    slot = tree.vacant[0]
    ranges[0, slot], ranges[1, slot] = 0, n_budgets - 1
    push(tree, work.counter, 0, root, work.theta, theta0, 0.0, -math.inf, -1)
    work.counter[SERIAL] = 1


@njit(cache=True, error_model="numpy")
def _at_budget(limits, budget):
    return Limits(
        limits.cost, limits.fee, limits.pays, limits.charged, limits.order, float(budget),
        limits.max_features, limits.integral, limits.has_budget,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def _spent(limits, status):
    left, _ = remaining_limits(limits, status)
    return int(limits.budget - left)


@njit(cache=True, error_model="numpy")
def _is_closed(stairs, gap, budget, bound):
    if bound < stairs.upper[budget] * (1.0 - gap):
        return False
    stairs.closed[budget] = min(stairs.closed[budget], bound)
    return True


@njit(cache=True, error_model="numpy")
def _record_bound(trace, counter, node, point, first, last):
    """The point bounds the node at budgets first to last."""
    record_step(trace, counter, BOUND, node, point)
    record_member(trace, counter, first)
    record_member(trace, counter, last)


@njit(cache=True, error_model="numpy")
def _offer(limits, work, stairs):
    """Keep the model in work.theta_best wherever it is the best so far."""
    spent = _spent(limits, work.status_best)
    objective, theta0 = work.scalar[UPPER], work.scalar[BEST_INTERCEPT]
    _keep(stairs, work.status_best, work.theta_best, theta0, objective, spent)


@njit(cache=True, error_model="numpy")
def _keep(stairs, status, theta, theta0, objective, spent):
    for b in range(spent, stairs.upper.size):
        if not objective < stairs.upper[b] * (1.0 - 1e-12):
            break
        stairs.upper[b] = objective
        stairs.status[b] = status
        stairs.theta[b] = theta
        stairs.theta0[b] = theta0


@njit(cache=True, error_model="numpy")
def _fix(
    limits, work, trace, status, stairs, gap, table, base, spent, low, high, node, point
):  # fmt: skip
    """Decide the predictors whose other value helps at no budget that is alive."""
    n_fixed = 0
    decision = work.status_swap
    for g in range(status.size):
        decision[g] = status[g]
        if status[g] != FREE:
            continue
        # Bought, at the least possible price; the table may count g a second time.
        cost = int(limits.cost[g])
        fix_out = True
        for b in range(max(low, spent + cost), high + 1):
            bound = base - work.v[g] - table[b - spent - cost]
            if bound < stairs.upper[b] * (1.0 - gap):
                fix_out = False
                break
        fix_in = False
        others = table
        if not fix_out and work.z[g] > _LIKELY:
            others = value_table(limits, work, status, high - spent, g)
            fix_in = True
            for b in range(low, high + 1):
                if base - others[b - spent] < stairs.upper[b] * (1.0 - gap):
                    fix_in = False
                    break
        if not fix_out and not fix_in:
            continue
        if n_fixed == 0:
            record_step(trace, work.counter, FIX, node, point)
        n_fixed += 1
        record_member(trace, work.counter, g if fix_out else ~g)
        for b in range(max(low, spent + cost) if fix_out else low, high + 1):
            bound = base - (work.v[g] + table[b - spent - cost] if fix_out else others[b - spent])
            stairs.closed[b] = min(stairs.closed[b], bound)
        decision[g] = OUT if fix_out else IN
    # All were judged by the same table, and only now is anything decided.
    status[:] = decision
    return n_fixed > 0

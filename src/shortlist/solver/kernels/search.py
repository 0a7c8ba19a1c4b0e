"""Best-bound branch and bound with dives."""

import math

from numba import njit

from .endgame import buy_one
from .fit import MODEL, PREDICTOR, ROWS
from .heuristic import COARSE, FINE, buy_greedily, fit_status, round_relaxation, swap
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
    linear_predictor,
)
from .oracle import price_now, remaining_limits
from .point import to_null_model
from .relaxation import relax
from .trace import (
    BOUND,
    BRANCH,
    FIX,
    NONE,
    has_room,
    record_member,
    record_point,
    record_step,
)
from .tree import DIVE_SLOT, close_leaf, fill, pop, push

# How often the relaxation is rounded: always at first, then now and then.
_EAGER_NODES, _ROUND_EVERY = 3, 16
# The search looks for swaps once it has proven to be more than trivial.
_SWAP_NODE = 16
_POLISHED = 1e-15


@njit(cache=True, error_model="numpy")
def _start(data, limits, work, tree, trace, root, warm):
    """Put the root on the tree and find a first incumbent: the support `warm`, or a greedy one."""
    theta0 = to_null_model(data, work)
    _settle_all(limits, work, root)
    first = work.status_swap
    first[:] = root
    has_warm, has_bought = False, False
    for g in range(root.size):
        if warm[g]:
            has_warm = True
            first[g] = IN
        has_bought = has_bought or first[g] == IN
    if has_warm or has_bought:
        theta0, _, _ = fit_status(data, work, first, theta0, math.inf, COARSE, MODEL)
    if not has_warm:
        buy_greedily(data, limits, work, first, theta0)
    else:
        fit_status(data, work, first, theta0, math.inf, FINE, MODEL)
    theta0 = work.scalar[BEST_INTERCEPT]
    point = record_point(trace, work.counter, work.theta_best, theta0)
    push(tree, work.counter, 0, root, work.theta_best, theta0, 0.0, -math.inf, point)
    work.counter[SERIAL] = 1


@njit(cache=True, error_model="numpy", nogil=True)
def run_search(data, limits, work, tree, trace, root, warm, gap, max_nodes):
    """Process up to max_nodes nodes; return whether the tree is exhausted, and then polish.

    Returns early, with False, when the tree or the trace is full.
    """
    counter, scalar, status = work.counter, work.scalar, work.status
    if counter[SERIAL] == 0:
        _start(data, limits, work, tree, trace, root, warm)
    stop = counter[NODES] + max_nodes
    n_fit = work.step.size
    while counter[OPEN] + counter[DIVE] > 0:
        if counter[NODES] >= stop or counter[OPEN] == tree.heap.size:
            return False
        if not has_room(trace, counter, status.size, work.theta.size, n_fit):
            return False
        # 1. Take the child of the last node (a dive), or the node of lowest bound.
        is_dive = counter[DIVE] == 1
        slot = DIVE_SLOT if is_dive else pop(tree, counter)
        counter[DIVE] = 0
        node, node_bound, node_point = tree.serial[slot], tree.bound[slot], tree.point[slot]
        cutoff = scalar[UPPER] * (1.0 - gap)
        if node_bound >= cutoff:
            close_leaf(scalar, node_bound)
            record_step(trace, counter, BOUND, node, node_point)
            continue
        status[:] = tree.status[slot]
        work.theta[:] = tree.theta[slot]
        theta0, mu = tree.theta0[slot], tree.mu[slot]
        counter[NODES] += 1
        # 2. Relax, unless nothing is left to decide.
        left, count, capacity, n_free = _settle_all(limits, work, status)
        known = PREDICTOR
        point = -1
        if n_free > 0:
            known = ROWS
            base, value, theta0, mu = relax(
                data, limits, work, status, left, count, capacity, theta0, mu, cutoff, is_dive
            )
            point = record_point(trace, counter, work.theta, theta0)
            if base - value >= node_bound:
                node_bound, node_point = base - value, point
            if node_bound < cutoff:
                # 3. Look for better incumbents.
                if is_heuristic_turn(counter[NODES]):
                    _look_for_incumbents(data, limits, work, status, root, theta0)
                cutoff = scalar[UPPER] * (1.0 - gap)
            if node_bound >= cutoff:
                close_leaf(scalar, node_bound)
                record_step(trace, counter, BOUND, node, node_point)
                continue
            # 4. Fix what the bound decides.
            if _fix(work, trace, status, base, cutoff, node, point) > 0:
                left, count, capacity, n_free = _settle_all(limits, work, status)
                if left < 0.0 or count < 0:
                    # What must be bought is not affordable together: nothing here is better.
                    record_step(trace, counter, NONE, node, -1)
                    continue
        # 5. Close the node if at most one purchase is left, else branch.
        if n_free == 0:
            if known == PREDICTOR:
                linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
            theta0, _, bound = fit_status(data, work, status, theta0, cutoff, FINE, known)
            close_leaf(scalar, bound)
            point = record_point(trace, counter, work.theta, theta0)
            record_step(trace, counter, BOUND, node, point)
        elif _only_one_more(limits, work, status, left, count):
            buy_one(data, work, trace, status, theta0, gap, node)
        else:
            pick = pick_predictor(work, status)
            child = counter[SERIAL]
            counter[SERIAL] += 2
            record_step(trace, counter, BRANCH, node, child)
            record_member(trace, counter, pick)
            status[pick] = OUT
            bound, proof = _best_proof(node_bound, node_point, base - work.value_out[pick], point)
            push(tree, counter, child, status, work.theta, theta0, mu, bound, proof)
            status[pick] = IN
            bound, proof = _best_proof(node_bound, node_point, base - work.value_in[pick], point)
            fill(tree, DIVE_SLOT, child + 1, status, work.theta, theta0, mu, bound, proof)
            counter[DIVE] = 1
    polish(data, work)
    return True


@njit(cache=True, error_model="numpy")
def polish(data, work):
    """Refit the incumbent to the last digits of its coefficients, which its objective hides."""
    work.theta[:] = work.theta_best
    theta0 = work.scalar[BEST_INTERCEPT]
    linear_predictor(data.X, data.n_positive, work.theta, theta0, work.u)
    theta0, objective, _ = fit_status(
        data, work, work.status_best, theta0, math.inf, _POLISHED, PREDICTOR
    )
    if objective <= work.scalar[UPPER] * (1.0 + 1e-12):
        work.theta_best[:] = work.theta
        work.scalar[BEST_INTERCEPT] = theta0


@njit(cache=True, error_model="numpy")
def is_heuristic_turn(node):
    """Whether to look for incumbents at this node."""
    return node <= _EAGER_NODES or node % _ROUND_EVERY == 0


@njit(cache=True, error_model="numpy")
def _look_for_incumbents(data, limits, work, status, root, theta0):
    """Round the relaxation, once try swaps, and leave the node's point as it was."""
    work.theta_saved[:] = work.theta
    work.slope_saved[:] = work.gradient
    work.u_saved[:] = work.u
    work.q_saved[:] = work.q
    work.d_saved[:] = work.d
    round_relaxation(data, limits, work, status, theta0)
    if work.counter[NODES] == _SWAP_NODE:
        swap(data, limits, work, root)
    work.theta[:] = work.theta_saved
    work.gradient[:] = work.slope_saved
    work.u[:] = work.u_saved
    work.q[:] = work.q_saved
    work.d[:] = work.d_saved


@njit(cache=True, error_model="numpy")
def settle(limits, work, status):
    """Forbid what is not affordable.

    Returns the budget left, the number of predictors left to buy, the one of these two that the
    relaxation uses, because it is tighter on average, the number of free predictors, and whether
    all of them are affordable together. Fills work.price to match: the price, or 1.
    """
    left, count = remaining_limits(limits, status)
    total = 0.0
    n_free = 0
    for g in range(status.size):
        if status[g] == FREE:
            price = price_now(limits, status, g)
            if price > left or count <= 0:
                status[g] = OUT
            else:
                n_free += 1
                total += price
                work.price[g] = price
    capacity = left
    if not limits.has_budget or count * total < left * n_free:
        capacity = float(count)
        work.price[:] = 1.0
    return left, count, capacity, n_free, n_free <= count and total <= left


@njit(cache=True, error_model="numpy")
def _settle_all(limits, work, status):
    """The same, and buy all that is left if all of it is affordable."""
    left, count, capacity, n_free, all_affordable = settle(limits, work, status)
    if all_affordable:
        for g in range(status.size):
            if status[g] == FREE:
                status[g] = IN
        n_free = 0
    return left, count, capacity, n_free


@njit(cache=True, error_model="numpy")
def _fix(work, trace, status, base, cutoff, node, point):
    """Decide the predictors whose other value cannot beat the incumbent; return how many."""
    n_fixed = 0
    for g in range(status.size):
        if status[g] == FREE:
            fix_out = base - work.value_in[g] >= cutoff
            if fix_out or base - work.value_out[g] >= cutoff:
                if n_fixed == 0:
                    record_step(trace, work.counter, FIX, node, point)
                n_fixed += 1
                record_member(trace, work.counter, g if fix_out else ~g)
                close_leaf(work.scalar, base - (work.value_in[g] if fix_out else work.value_out[g]))
                status[g] = OUT if fix_out else IN
    return n_fixed


@njit(cache=True, error_model="numpy")
def _only_one_more(limits, work, status, left, count):
    """Whether no two of the free predictors are affordable together."""
    if count == 1:
        return True
    if not limits.has_budget:
        return False
    least, second = math.inf, math.inf
    for g in range(status.size):
        if status[g] == FREE:
            # Without the fee: a fee may be paid by the other one.
            price = limits.cost[g]
            if price < least:
                least, second = price, least
            elif price < second:
                second = price
    return least + second > left


@njit(cache=True, error_model="numpy")
def pick_predictor(work, status):
    """The predictor to branch on, of largest z v: the most that the relaxation gains from one."""
    pick, score = -1, -1.0
    for g in range(status.size):
        if status[g] == FREE and work.z[g] * work.v[g] > score:
            pick, score = g, work.z[g] * work.v[g]
    return pick


@njit(cache=True, error_model="numpy")
def _best_proof(bound, proof, other_bound, other_proof):
    if other_bound >= bound:
        return other_bound, other_proof
    return bound, proof

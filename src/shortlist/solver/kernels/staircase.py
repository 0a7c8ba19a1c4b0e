"""The best model for every whole budget at once, in one tree.

A dual point bounds a node at every budget, because the knapsack table has the best value for every
amount. A node is alive for a range of budgets. It is relaxed at the highest of them, loses those at
which it is bounded away, and is relaxed again at the next highest, until the highest stays alive.
"""

import math
from typing import NamedTuple

import numpy as np

from .fields import STATUS, Array
from .fit import COARSE, FINE, Start, fit_selection, record_fit, start_from_null
from .heuristic import buy_greedily, round_relaxation
from .incumbent import try_selection
from .layout import FREE, IN, OUT, copy, linear_predictor
from .oracle import NOTHING, Limits, remaining_limits, value_table
from .reference import by_reference, entry, inlined, kernel
from .relaxation import NOT_EVALUATED, relax_node
from .room import settle
from .search import is_heuristic_turn, pick_predictor
from .trace import NO_POINT, Kind, has_room, record_member, record_step
from .tree import DIVE_SLOT, ROOT, create_children, fill, pop, push

# Predictors that the relaxation buys to this share are tested for being indispensable.
_LIKELY = 0.5


class Stairs(NamedTuple):
    """What each whole amount buys, from 0 to the budget."""

    upper: Array("n_budgets", start=math.inf)  # objective of the best model found
    closed: Array("n_budgets", start=math.inf)  # smallest bound of the closed leaves
    status: Array("n_budgets", "n_predictors", dtype=np.int8, start=0)
    theta: Array("n_budgets", "n_columns", start=0.0)
    theta0: Array("n_budgets", start=0.0)
    decision: STATUS  # the status of a node once all are judged


class Proof(NamedTuple):
    """What a point says about a node: base - table[b - spent] bounds it at budget b."""

    base: float
    table: np.ndarray
    spent: int
    gap: float


@entry
def run_staircase(search, stairs, tree, trace, gap, max_nodes):
    """Process up to max_nodes nodes; return whether the tree is exhausted.

    Returns early, with False, when the tree or the trace is full.
    """
    search, stairs = by_reference(search), by_reference(stairs)
    tree, trace = by_reference(tree), by_reference(trace)
    now = tree.now
    if now.n_created == 0:
        _start(search, stairs, tree)
    stop = now.nodes + max_nodes
    # The largest node has a point and a step for every budget, and those of its own.
    n_steps = search.status.size + 2 * stairs.upper.size
    n_columns = search.fit.theta.size
    while now.n_open + now.n_diving > 0:
        if now.nodes >= stop or now.n_open == tree.heap.size:
            return False
        if not has_room(trace, n_steps, 2 * n_steps, n_columns, n_columns):
            return False
        _process_node(search, stairs, tree, trace, gap)
    return True


@inlined
def _start(search, stairs, tree):
    """Put the root on the tree, and buy greedily at every budget."""
    data, fit, incumbent, root = search.data, search.fit, search.incumbent, search.root
    n_budgets = stairs.upper.size
    trial = search.status
    for b in range(n_budgets):
        copy(trial, root)
        here = by_reference(_at_budget(search.limits, b))
        left, _ = remaining_limits(here, trial)
        if left < 0.0:
            continue
        theta0 = start_from_null(data, fit)
        incumbent.score.objective = math.inf
        theta0, _, _ = try_selection(search, trial, theta0, math.inf, COARSE, Start.PREDICTOR)
        buy_greedily(search, here, trial, theta0)
        _offer(search.limits, incumbent, stairs)
    theta0 = start_from_null(data, fit)
    slot = tree.vacant[0]
    tree.low[slot], tree.high[slot] = 0, n_budgets - 1
    push(tree, ROOT, root, fit.theta, theta0, 0.0, -math.inf, NO_POINT)
    tree.now.n_created = 1


@inlined
def _process_node(search, stairs, tree, trace, gap):
    """Take a node from the tree; close it or branch."""
    data, limits, relaxation, status = search.data, search.limits, search.relaxation, search.status
    fit, incumbent, theta = search.fit, search.incumbent, relaxation.model.theta
    slot = DIVE_SLOT if tree.now.n_diving == 1 else pop(tree)
    tree.now.n_diving = 0
    copy(status, tree.status[slot])
    copy(theta, tree.theta[slot])
    theta0, mu, node = tree.theta0[slot], tree.mu[slot], tree.serial[slot]
    spent = _spent(limits, status)
    low, high = max(tree.low[slot], spent), tree.high[slot]
    tree.now.nodes += 1
    # 1. Relax at the highest budget, until that one stays alive.
    n_free, point = 0, NO_POINT
    proof = Proof(0.0, np.zeros(1), spent, gap)
    while low <= high:
        here = by_reference(_at_budget(limits, high))
        room = settle(here, status, relaxation.model.price)
        n_free = room.n_free
        if n_free == 0:
            break
        cutoff = stairs.upper[high] * (1.0 - gap)
        base, _, theta0, mu, point = relax_node(
            search, here, trace, room, theta0, mu, cutoff, NOT_EVALUATED
        )
        table = value_table(here, relaxation.values.v, status, int(room.left), NOTHING)
        proof = Proof(base, table, spent, gap)
        low, high = _close_budgets(stairs, trace, proof, low, high, node, point)
        if high == int(room.left) + spent:
            break
    if low > high:
        return
    if n_free > 0:
        # 2. Look for better models, and decide what the bounds decide.
        if is_heuristic_turn(tree.now.nodes):
            incumbent.score.objective = math.inf
            here = by_reference(_at_budget(limits, high))
            round_relaxation(search, here)
            _offer(limits, incumbent, stairs)
        if _fix(search, stairs, trace, proof, low, high, node, point):
            spent = _spent(limits, status)
            low = max(low, spent)
            here = by_reference(_at_budget(limits, high))
            room = settle(here, status, relaxation.model.price)
            n_free = room.n_free
            if low > high or room.count < 0:
                record_step(trace, Kind.NONE, node, NO_POINT)
                return
    # 3. Close the node if nothing is left to buy, else branch.
    if n_free == 0:
        linear_predictor(data, theta, theta0, fit.rows.u)
        cutoff = stairs.upper[low] * (1.0 - gap)
        theta0, objective, bound = fit_selection(
            data, fit, status, theta0, cutoff, FINE, Start.PREDICTOR
        )
        _keep(stairs, status, fit.theta, theta0, objective, spent)
        for b in range(low, high + 1):
            stairs.closed[b] = min(stairs.closed[b], bound)
        _record_bound(trace, node, record_fit(trace, fit, theta0), low, high)
        return
    pick = pick_predictor(relaxation, status)
    child = create_children(tree, trace, node, pick)
    key = proof.base
    if high - spent < proof.table.size:
        key -= proof.table[high - spent]
    free_slot = tree.vacant[tree.now.n_open]
    tree.low[free_slot], tree.high[free_slot] = low, high
    status[pick] = OUT
    push(tree, child, status, theta, theta0, mu, key, NO_POINT)
    tree.low[DIVE_SLOT], tree.high[DIVE_SLOT] = low, high
    status[pick] = IN
    fill(tree, DIVE_SLOT, child + 1, status, theta, theta0, mu, key, NO_POINT)
    tree.now.n_diving = 1


@kernel
def _at_budget(limits, budget):
    return Limits(
        limits.cost, limits.fee, limits.pays, limits.charged, limits.order, float(budget),
        limits.max_features, limits.integral, limits.has_budget,
    )  # fmt: skip


@kernel
def _spent(limits, status):
    left, _ = remaining_limits(limits, status)
    return int(limits.budget - left)


@kernel
def _close_budgets(stairs, trace, proof, low, high, node, point):
    """Close the highest and the lowest budgets that the proof reaches; return those left."""
    first, last = low, high
    while low <= high and _is_closed(stairs, proof, high):
        high -= 1
    if high < last:
        _record_bound(trace, node, point, high + 1, last)
    while low <= high and _is_closed(stairs, proof, low):
        low += 1
    if low > first:
        _record_bound(trace, node, point, first, low - 1)
    return low, high


@kernel
def _is_closed(stairs, proof, budget):
    bound = proof.base - proof.table[budget - proof.spent]
    if bound < stairs.upper[budget] * (1.0 - proof.gap):
        return False
    stairs.closed[budget] = min(stairs.closed[budget], bound)
    return True


@kernel
def _record_bound(trace, node, point, first, last):
    """The point bounds the node at budgets first to last."""
    record_step(trace, Kind.BOUND, node, point)
    record_member(trace, first)
    record_member(trace, last)


@kernel
def _offer(limits, incumbent, stairs):
    """Keep the incumbent wherever it is the best so far."""
    spent = _spent(limits, incumbent.status)
    score = incumbent.score
    _keep(stairs, incumbent.status, incumbent.theta, score.intercept, score.objective, spent)


@kernel
def _keep(stairs, status, theta, theta0, objective, spent):
    for b in range(spent, stairs.upper.size):
        if not objective < stairs.upper[b] * (1.0 - 1e-12):
            break
        stairs.upper[b] = objective
        copy(stairs.status[b], status)
        copy(stairs.theta[b], theta)
        stairs.theta0[b] = theta0


@kernel
def _fix(search, stairs, trace, proof, low, high, node, point):
    """Decide the predictors whose other value helps at no budget that is alive."""
    limits, status, v = search.limits, search.status, search.relaxation.values.v
    base, table, spent = proof.base, proof.table, proof.spent
    n_fixed = 0
    decision = stairs.decision
    for g in range(status.size):
        decision[g] = status[g]
        if status[g] != FREE:
            continue
        # Bought, at the least possible price; the table may count g a second time.
        cost = int(limits.cost[g])
        fix_out = True
        for b in range(max(low, spent + cost), high + 1):
            bound = base - v[g] - table[b - spent - cost]
            if bound < stairs.upper[b] * (1.0 - proof.gap):
                fix_out = False
                break
        fix_in = False
        others = table
        if not fix_out and search.relaxation.z[g] > _LIKELY:
            others = value_table(limits, v, status, high - spent, g)
            fix_in = True
            for b in range(low, high + 1):
                if base - others[b - spent] < stairs.upper[b] * (1.0 - proof.gap):
                    fix_in = False
                    break
        if not fix_out and not fix_in:
            continue
        if n_fixed == 0:
            record_step(trace, Kind.FIX, node, point)
        n_fixed += 1
        record_member(trace, g if fix_out else ~g)
        for b in range(max(low, spent + cost) if fix_out else low, high + 1):
            bound = base - (v[g] + table[b - spent - cost] if fix_out else others[b - spent])
            stairs.closed[b] = min(stairs.closed[b], bound)
        decision[g] = OUT if fix_out else IN
    # All were judged by the same table, and only now is anything decided.
    copy(status, decision)
    return n_fixed > 0

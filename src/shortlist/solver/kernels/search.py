"""Best-bound branch and bound with dives, for the best model or for all below a threshold."""

import math
from typing import NamedTuple

from .endgame import Endgame, are_pairs_few, buy_one, buy_two, largest_node
from .fields import STATUS
from .fit import COARSE, FINE, Start, record_fit, start_from_null, start_from_rows
from .heuristic import Heuristic, buy_greedily, round_relaxation, swap
from .incumbent import Incumbent, refit_incumbent, try_selection
from .layout import FREE, IN, OUT, Data, copy, linear_predictor
from .listing import Listing, is_listing, keep_selection
from .newton import Fit
from .oracle import Limits
from .reference import by_reference, entry, inlined, kernel
from .relaxation import Relaxation, relax_node
from .room import most_purchases, settle
from .trace import NO_POINT, Kind, has_room, record_member, record_point, record_step
from .tree import DIVE_SLOT, ROOT, close_leaf, close_node, create_children, fill, pop, push

# How often the relaxation is rounded: always at first, then now and then.
_EAGER_NODES, _ROUND_EVERY = 3, 16
# The search looks for swaps once it has proven to be more than trivial.
_SWAP_NODE = 16


class Search(NamedTuple):
    """All that a search works on, besides the open nodes and the trace."""

    data: Data
    limits: Limits
    relaxation: Relaxation
    fit: Fit
    heuristic: Heuristic
    endgame: Endgame
    incumbent: Incumbent  # in a listing, its objective is the threshold
    listing: Listing
    root: STATUS  # what is decided from the start
    status: STATUS  # the node that is processed


@entry
def run_search(search, tree, trace, warm, gap, max_nodes):
    """Process up to max_nodes nodes; return whether the tree is exhausted.

    `warm` marks the first selection to fit. Returns early, with False, when tree or trace are full.
    A search that has come to its end has polished the incumbent, unless it is part of another.
    """
    search, tree, trace = by_reference(search), by_reference(tree), by_reference(trace)
    now = tree.now
    if now.n_created == 0:
        _start(search, tree, trace, warm)
    stop = now.nodes + max_nodes
    n_steps, n_members = largest_node(search.status.size)
    n_columns, n_fit = search.fit.theta.size, search.endgame.step.size
    while now.n_open + now.n_diving > 0:
        if now.nodes >= stop or now.n_open == tree.heap.size:
            return False
        if not has_room(trace, n_steps, n_members, n_columns, n_fit):
            return False
        _process_node(search, tree, trace, gap)
    if now.created_before == 0 and not is_listing(search.listing):
        refit_incumbent(search)
    return True


@entry
def polish(search):
    """Refit the incumbent of a search that has not come to its end."""
    refit_incumbent(by_reference(search))


@inlined
def _start(search, tree, trace, warm):
    """Put the root on the tree; for the best model, also find a first incumbent.

    That is the selection `warm`, or a greedy one.
    """
    fit, incumbent, root = search.fit, search.incumbent, search.root
    theta0 = start_from_null(search.data, fit)
    theta = fit.theta
    if not is_listing(search.listing):
        _settle(search, root)
        trial = search.heuristic.trial
        copy(trial, root)
        has_warm, has_bought = False, False
        for g in range(root.size):
            if warm[g]:
                has_warm = True
                trial[g] = IN
            has_bought = has_bought or trial[g] == IN
        if has_bought:
            theta0, _, _ = try_selection(search, trial, theta0, math.inf, COARSE, Start.MODEL)
        if has_warm:
            try_selection(search, trial, theta0, math.inf, FINE, Start.MODEL)
        else:
            buy_greedily(search, search.limits, trial, theta0)
        theta, theta0 = incumbent.theta, incumbent.score.intercept
    point = record_point(trace, theta, theta0, fit.rows.kink.width)
    push(tree, ROOT, root, theta, theta0, 0.0, -math.inf, point)
    tree.now.n_created = 1


@inlined
def _process_node(search, tree, trace, gap):
    """Take a node from the tree; close it or branch."""
    data, limits, relaxation, status = search.data, search.limits, search.relaxation, search.status
    theta, score = relaxation.model.theta, search.incumbent.score
    # 1. Take the child of the last node (a dive), or the node of lowest bound.
    is_dive = tree.now.n_diving == 1
    slot = DIVE_SLOT if is_dive else pop(tree)
    tree.now.n_diving = 0
    node, node_bound, node_point = tree.serial[slot], tree.bound[slot], tree.point[slot]
    cutoff = score.objective * (1.0 - gap)
    if node_bound >= cutoff:
        close_node(tree, trace, node, node_bound, node_point)
        return
    copy(status, tree.status[slot])
    copy(theta, tree.theta[slot])
    theta0, mu = tree.theta0[slot], tree.mu[slot]
    tree.now.nodes += 1
    # 2. Relax, unless nothing is left to decide.
    room = _settle(search, status)
    base, base_then, point = 0.0, 0.0, NO_POINT
    relaxed = room.n_free > 0
    if relaxed:
        is_evaluated = is_dive and relaxation.last.is_moved == 0
        base, value, theta0, mu, point = relax_node(
            search, limits, trace, room, theta0, mu, cutoff, is_evaluated
        )
        if base - value >= node_bound:
            node_bound, node_point = base - value, point
        # 3. Look for better incumbents.
        if node_bound < cutoff and not is_listing(search.listing):
            if is_heuristic_turn(tree.now.nodes):
                round_relaxation(search, limits)
                if tree.now.nodes == _SWAP_NODE:
                    swap(search)
            cutoff = score.objective * (1.0 - gap)
        if node_bound >= cutoff:
            close_node(tree, trace, node, node_bound, node_point)
            return
        # 4. Fix what the bound decides.
        n_fixed, base_then = _fix(relaxation.values, tree, trace, status, base, cutoff, node, point)
        if n_fixed > 0:
            room = _settle(search, status)
            if room.left < 0.0 or room.count < 0:
                # What must be bought is not affordable together: nothing here is better.
                record_step(trace, Kind.NONE, node, NO_POINT)
                return
    # 5. Close the node if at most two purchases are left, else branch.
    if room.n_free == 0:
        if relaxed:
            start_from_rows(search.fit, relaxation.rows)
        else:
            linear_predictor(data, theta, theta0, search.fit.rows.u)
        start = Start.ROWS if relaxed else Start.PREDICTOR
        theta0, bound = keep_selection(search, status, theta0, cutoff, start)
        close_node(tree, trace, node, bound, record_fit(trace, search.fit, theta0))
        return
    n_left = most_purchases(limits, status, room)
    if n_left == 1:
        buy_one(search, tree, trace, gap, node)
    elif n_left == 2 and are_pairs_few(search, base_then, cutoff, room.n_free):
        buy_two(search, tree, trace, gap, node, room, base_then, point)
    else:
        _branch(search, tree, trace, node, node_bound, node_point, base, point, theta0, mu)


@kernel
def _branch(search, tree, trace, node, node_bound, node_point, base, point, theta0, mu):
    """Open the node's children; each has the better bound of the node's and its own."""
    status, theta, values = search.status, search.relaxation.model.theta, search.relaxation.values
    pick = pick_predictor(search.relaxation, status)
    child = create_children(tree, trace, node, pick)
    status[pick] = OUT
    bound, proof = _best_proof(node_bound, node_point, base - values.value_out[pick], point)
    push(tree, child, status, theta, theta0, mu, bound, proof)
    status[pick] = IN
    bound, proof = _best_proof(node_bound, node_point, base - values.value_in[pick], point)
    fill(tree, DIVE_SLOT, child + 1, status, theta, theta0, mu, bound, proof)
    tree.now.n_diving = 1


@kernel
def _best_proof(bound, proof, other_bound, other_proof):
    if other_bound >= bound:
        return other_bound, other_proof
    return bound, proof


@kernel
def is_heuristic_turn(node):
    """Whether to look for incumbents at this node."""
    return node <= _EAGER_NODES or node % _ROUND_EVERY == 0


@kernel
def _settle(search, status):
    """Forbid what is not affordable; for the best model, buy all that is left if all of it is."""
    room = settle(search.limits, status, search.relaxation.model.price)
    if room.n_free > 0 and room.all_affordable and not is_listing(search.listing):
        for g in range(status.size):
            if status[g] == FREE:
                status[g] = IN
        room = settle(search.limits, status, search.relaxation.model.price)
    return room


@kernel
def _fix(values, tree, trace, status, base, cutoff, node, point):
    """Decide the predictors whose other value cannot beat the incumbent.

    Returns how many, and the base of the point once they are decided.
    """
    n_fixed = 0
    base_then = base
    for g in range(status.size):
        if status[g] == FREE:
            fix_out = base - values.value_in[g] >= cutoff
            if fix_out or base - values.value_out[g] >= cutoff:
                if n_fixed == 0:
                    record_step(trace, Kind.FIX, node, point)
                n_fixed += 1
                record_member(trace, g if fix_out else ~g)
                close_leaf(tree, base - (values.value_in[g] if fix_out else values.value_out[g]))
                status[g] = OUT if fix_out else IN
                if not fix_out:
                    base_then -= values.v[g]
    return n_fixed, base_then


@kernel
def pick_predictor(relaxation, status):
    """The predictor to branch on, of largest z v: the most that the relaxation gains from one."""
    z, v = relaxation.z, relaxation.values.v
    pick, score = -1, -1.0
    for g in range(status.size):
        # The first one is as good as any where none has a value that is a number.
        if status[g] == FREE and (pick < 0 or z[g] * v[g] > score):
            pick, score = g, z[g] * v[g] if z[g] * v[g] >= 0.0 else -1.0
    return pick

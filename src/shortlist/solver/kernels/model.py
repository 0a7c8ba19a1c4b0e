"""Active-set minimisation of the quadratic model with the perspective penalty.

The penalty is that of `penalty.py`. Its multiplier mu is moved to where the budget is just spent.
"""

import math
from typing import NamedTuple

import numpy as np

from .cholesky import FIRST, factorise, substitute_both
from .fields import STATUS, Array
from .gram import Gram
from .held import within
from .layout import FREE, IN, OUT, norm_of
from .model_limits import hold_rows, leaving_root, release
from .penalty import LINEAR, QUADRATIC, ZERO, linear_slope, reach_of, squared_slope
from .reference import kernel
from .sort import sort_by

_MAX_CORRECTIONS = 60
# After this many corrections of the zones they change one by one, and a step stops at the first
# coefficient that reaches zero: dependent columns would send several far beyond it.
_FREE_CORRECTIONS = 4
_FEWEST_ACTIVATED = 4
_ZONE_TOLERANCE = 1e-9
# A predictor that is bought to this share is not bought: the direction of a group that small is
# noise, and its curvature, which grows as it shrinks, would hold everything else in place.
_NEGLIGIBLE = 1e-10
# Where a predictor is steep, coefficients are not linear in sqrt(mu): it is accurate to this share.
_ROOT_TOLERANCE = 1e-7


class System(NamedTuple):
    """The linear system of the active columns."""

    active: Array("n_model", dtype=np.int64)  # the place in the Gram matrix of each row
    matrix: Array("n_model", "n_model")  # then its factor
    solution: Array("n_model")
    response: Array("n_model")  # what the solution loses per unit of sqrt(mu)


class Model(NamedTuple):
    """The quadratic model around a point, its penalty and its active set."""

    gram: Gram
    theta: Array("n_columns")  # the point, then the minimiser
    gradient: Array("n_columns")  # of the loss at the point
    price: Array("n_predictors")
    root_price: Array("n_predictors")  # sqrt(2 ridge price)
    zone: STATUS  # of the penalty
    held: Array("n_columns", dtype=np.bool_)  # whether the coefficient stays at a limit
    chain: Array("n_predictors", dtype=np.int64)  # active predictors, steadiest first
    entry: Array("n_predictors")  # sqrt(mu) below which a predictor becomes active
    linear: Array("n_model")  # linear term, by place in the Gram matrix
    slope: Array("n_model")  # downhill slope, by place in the Gram matrix
    system: System


@kernel
def minimise_model(data, model, status, budget, mu, mismatch):
    """Minimise the quadratic model around model.theta over the working set; return mu.

    On entry model.theta is the expansion point, whose gradient is in model.gradient; columns of
    forbidden predictors may be nonzero there and end at 0. On exit model.theta is the minimiser.

    Each predictor is in a zone of its penalty: zero, linear or quadratic. For given zones and
    directions u_g of the linear ones, theta = K^-1 b - sqrt(mu) K^-1 (sqrt(2 ridge c) u) is linear
    in sqrt(mu), and so the mu that spends the budget has a closed form: one factorisation gives
    both. The zones, and what is held at limits, are corrected until they are consistent. Predictors
    that are likely to change zone stand last, so that most of the factor can be kept.
    """
    solution, response = model.system.solution, model.system.response
    n = model.gram.now.n_columns
    _linear_term(model, n, mismatch)
    root = math.sqrt(mu)
    n_chain = _first_zones(data, model, status, n, root)
    n_kept = FIRST  # rows of the factor that are still right
    for trial in range(_MAX_CORRECTIONS):
        # 1. Factorise, and solve for the fixed part and the part that grows with sqrt(mu).
        n_active = _fill_system(data, model, n_chain, n_kept, root)
        if n_active > model.system.matrix.shape[0] or not factorise(
            model.system.matrix, n_kept, n_active
        ):
            break
        substitute_both(model.system.matrix, n_active, solution, response)
        # 2. The multiplier that spends the budget.
        old_root = root
        root, left, settled = _spend(data, model, status, n_chain, budget, root)
        for r in range(n_active):
            solution[r] -= root * response[r]
        if trial >= _FREE_CORRECTIONS:
            share = _first_change(data, model, n_chain)
            if share < 1.0:
                settled = False
                root = old_root + share * (root - old_root)
                for r in range(n_active):
                    t = model.theta[model.gram.member[model.system.active[r]]]
                    solution[r] = t + share * (solution[r] - t)
        # 3. Correct the zones of the active predictors.
        n_chain, n_kept, corrected = _correct_zones(data, model, status, n_chain, root)
        # 4. Activate what is worth more than its price.
        strongest_root = _slopes(data, model, status, n, n_chain)
        # Many at a time at first; then one by one, as more columns than rows would be dependent.
        room = max(n_chain, _FEWEST_ACTIVATED) if trial < _FREE_CORRECTIONS else 1
        if not corrected and data.is_limited and release(data, model, status, n_chain, root):
            n_kept = FIRST
            corrected = True
        if not corrected:
            if strongest_root > root * (1.0 + 1e-9):
                n_chain = _activate(data, model, status, n_chain, root, room)
                corrected = True
            elif settled and left > 1e-9 * budget and strongest_root > 0.0:
                # Nothing is in the linear zone and money is left: mu falls to the next entry.
                root = strongest_root * (1.0 - 1e-6)
                n_chain = _activate(data, model, status, n_chain, root, room)
                corrected = True
        if settled and not corrected:
            break
    return root * root


@kernel
def _linear_term(model, n, mismatch):
    """Fill model.linear with b = H theta - gradient, the linear term of the model."""
    theta, linear, matrix = model.theta, model.linear, model.gram.matrix
    member = model.gram.member
    for i in range(n):
        linear[i] = mismatch * model.gram.mean[i] - model.gradient[member[i]]
    for k in range(n):
        t = theta[member[k]]
        if t != 0.0:
            row = matrix[k]
            for i in range(n):
                linear[i] += t * row[i]


@kernel
def _first_zones(data, model, status, n, root):
    """Zones of the expansion point; list the active predictors, steadiest first."""
    start, ridge, theta, price = data.start, data.ridge, model.theta, model.price
    root_price, zone, chain, held = model.root_price, model.zone, model.chain, model.held
    member = model.gram.member
    n_chain = 0
    steadiness = np.empty(n)
    i = 0
    while i < n:
        g = data.owner[member[i]]
        first, last = start[g], start[g + 1]
        i += last - first
        root_price[g] = math.sqrt(2.0 * ridge * price[g])
        size = norm_of(start, theta, g)
        zone[g] = ZERO
        if status[g] == OUT or (
            status[g] == FREE and ridge * size < _NEGLIGIBLE * root * root_price[g]
        ):
            for k in range(first, last):
                theta[k] = 0.0
        elif status[g] == IN:
            zone[g] = QUADRATIC
            size = math.inf
        elif size > 0.0:
            zone[g] = QUADRATIC if ridge * size >= root * root_price[g] else LINEAR
        for k in range(first, last):
            held[k] = theta[k] == data.lower[k] or theta[k] == data.upper[k]
        if last - first == 1 and held[first] and zone[g] == LINEAR:
            zone[g] = QUADRATIC
        if zone[g] != ZERO:
            steady = size / (1e-300 + root_price[g])
            c = n_chain
            while c > 0 and steadiness[c - 1] < steady:
                steadiness[c] = steadiness[c - 1]
                chain[c] = chain[c - 1]
                c -= 1
            steadiness[c] = steady
            chain[c] = g
            n_chain += 1
    return n_chain


@kernel
def _fill_system(data, model, n_chain, n_kept, root):
    """Write rows n_kept and later of K, and both right-hand sides; return the number of rows."""
    start, theta, root_price, zone = data.start, model.theta, model.root_price, model.zone
    chain, linear, matrix = model.chain, model.linear, model.gram.matrix
    position, solution = model.gram.position, model.system.solution
    response = model.system.response
    a, active, held = model.system.matrix, model.system.active, model.held
    n_active = np.int64(0)  # a plain 0 would be a type of its own
    any_held = False
    for g in chain[:n_chain]:
        first, last = start[g], start[g + 1]
        if n_active + last - first > a.shape[0]:
            return a.shape[0] + 1
        is_linear = zone[g] == LINEAR
        size = norm_of(start, theta, g)
        slope, is_steep = linear_slope(data, model, g, root)
        for j in range(first, last):
            r = n_active
            n_active += 1
            active[r] = position[j]
            any_held = any_held or held[j]
            solution[r] = linear[active[r]]
            response[r] = root_price[g] * theta[j] / size if is_linear else 0.0
            if is_linear and is_steep:
                # The tangent of the slope at this root: it grows with the square of root.
                growth = 2.0 * slope / root - data.ridge * reach_of(data, theta, g) / root
                response[r] = growth * theta[j] / size
                solution[r] -= (slope - growth * root) * theta[j] / size
            if r >= n_kept:
                source, row = matrix[active[r]], a[r]
                for k in range(r + 1):
                    row[k] = source[active[k]]
                row[r] += 1e-11 * row[r]
                if not is_linear:
                    row[r] += data.ridge
                elif last - first > 1:
                    # Curvature of the norm: only across its direction.
                    weight = root * root_price[g] / size
                    row[r] += weight
                    for k in range(first, j + 1):
                        row[r - (j - k)] -= weight * theta[j] / size * theta[k] / size
    if any_held:
        hold_rows(data, model, n_active, n_kept, root)
    return n_active


@kernel
def _spend(data, model, status, n_chain, budget, root):
    """Return the sqrt(mu) that spends the budget, what is left of it, and whether it could be met.

    Something is left only if no predictor is in the linear zone.
    """
    start, theta, price, root_price = data.start, model.theta, model.price, model.root_price
    zone, chain, solution = model.zone, model.chain, model.system.solution
    response = model.system.response
    left = budget
    fixed, grows = 0.0, 0.0
    steep_fixed, steep_grows = 0.0, 0.0
    any_linear, any_steep = False, False
    weakest, weakest_root = -1, math.inf
    r = 0
    for g in chain[:n_chain]:
        first, last = start[g], start[g + 1]
        if zone[g] == LINEAR:
            any_linear = True
            _, is_steep = linear_slope(data, model, g, root)
            if is_steep:
                any_steep = True
                scale = price[g] / reach_of(data, theta, g) / norm_of(start, theta, g)
                steep_fixed += scale * theta[first] * solution[r]
                steep_grows += scale * theta[first] * response[r]
            else:
                scale = 0.5 * root_price[g] / norm_of(start, theta, g)
                for j in range(first, last):
                    fixed += scale * theta[j] * solution[r + j - first]
                    grows += scale * theta[j] * response[r + j - first]
        elif status[g] == FREE:
            left -= price[g]
            size = 0.0
            for j in range(first, last):
                size += solution[r + j - first] ** 2
            if root_price[g] > 0.0:
                entry = data.ridge * math.sqrt(size) / root_price[g]
                if last - first == 1 and model.held[first]:
                    entry = leaving_root(data, model, n_chain, g)
                if entry < weakest_root:
                    weakest, weakest_root = g, entry
        r += last - first
    settled = True
    if any_steep:
        # root (left - what the steep spend) = what the others spend, times root.
        excess = left - steep_fixed + grows
        square = excess * excess + 4.0 * steep_grows * fixed
        new_root = 0.0
        if square >= 0.0 and excess + math.sqrt(square) > 0.0 and fixed > 0.0:
            new_root = 2.0 * fixed / (excess + math.sqrt(square))
        elif steep_grows > 0.0:
            new_root = -excess / steep_grows
        new_root = min(max(new_root, 0.5 * root), 2.0 * root)
        settled = abs(new_root - root) <= _ROOT_TOLERANCE * root
        root = new_root
    elif any_linear:
        if left + grows > 0.0 and fixed > 0.0:
            root = fixed / (left + grows)
        else:
            root *= 1.5 if fixed > 0.0 else 0.7
            settled = False
    elif left < -1e-9 * budget and weakest >= 0:
        # Too much is in the quadratic zone: mu rises until the weakest leaves it.
        root = weakest_root * (1.0 + 1e-6)
        settled = False
    if any_linear:
        left = 0.0
    return root, left, settled


@kernel
def _first_change(data, model, n_chain):
    """The share of the step at which the first linear predictor reaches zero, at most 1.

    Or at which the first coefficient reaches a limit.
    """
    start, theta, zone, chain = data.start, model.theta, model.zone, model.chain
    solution = model.system.solution
    share = 1.0
    r = 0
    for g in chain[:n_chain]:
        first, last = start[g], start[g + 1]
        if zone[g] == LINEAR:
            along, size = 0.0, 0.0
            for j in range(first, last):
                along += solution[r + j - first] * theta[j]
                size += theta[j] * theta[j]
            if along < 0.0:
                share = min(share, size / (size - along) * (1.0 + 1e-9))
        for j in range(first, last):
            t = solution[r + j - first]
            limit = within(data, j, t)
            if limit != t:
                share = min(share, max((limit - theta[j]) / (t - theta[j]), 0.0) * (1.0 + 1e-9))
        r += last - first
    return share


@kernel
def _correct_zones(data, model, status, n_chain, root):
    """Adopt the solution and move predictors to the zones it is in.

    Returns the length of the list, the number of rows of the factor that stay right, and whether
    any zone changed.
    """
    start, theta, root_price, zone = data.start, model.theta, model.root_price, model.zone
    chain, solution, held = model.chain, model.system.solution, model.held
    corrected = False
    n_left = 0
    r = 0
    n_kept = -1
    for g in chain[:n_chain]:
        first, last = start[g], start[g + 1]
        along, size = 0.0, 0.0
        is_free, changed = status[g] == FREE, False
        for j in range(first, last):
            t = solution[r + j - first]
            limit = within(data, j, t)
            if limit != t:
                changed = changed or not held[j]
                held[j] = True
                solution[r + j - first] = t = limit
                if is_free and last - first == 1:
                    # It is bought as a whole, unless it went beyond zero.
                    zone[g] = ZERO if t * theta[j] <= 0.0 else QUADRATIC
            along += t * theta[j]
            size += t * t
        size = math.sqrt(size)
        if is_free:
            # The penalty is smooth where the zones meet: a tolerance there keeps rounding from
            # sending a predictor to and fro.
            ratio = data.ridge * size / (1e-300 + root * root_price[g])
            if zone[g] == LINEAR:
                if not along > 0.0 or ratio < _NEGLIGIBLE:
                    zone[g] = ZERO
                    changed = True
                elif ratio > 1.0 + _ZONE_TOLERANCE:
                    zone[g] = QUADRATIC
                    changed = True
                elif last - first > 1:
                    turned = along < (1.0 - 1e-7) * size * norm_of(start, theta, g)
                    changed = changed or turned
                    if n_kept < 0:
                        n_kept = r
            elif zone[g] == QUADRATIC and ratio < 1.0 - _ZONE_TOLERANCE:
                if last - first > 1 or not held[first]:
                    zone[g] = LINEAR
                    changed = True
        if changed:
            corrected = True
            if n_kept < 0:
                n_kept = r
        for j in range(first, last):
            theta[j] = 0.0 if zone[g] == ZERO else solution[r + j - first]
        if zone[g] != ZERO:
            chain[n_left] = g
            n_left += 1
        r += last - first
    return n_left, r if n_kept < 0 else n_kept, corrected


@kernel
def _slopes(data, model, status, n, n_chain):
    """Fill the model's downhill slopes and where each zero predictor enters; return the first."""
    start, theta, root_price, zone = data.start, model.theta, model.root_price, model.zone
    chain, entry, linear, slope = model.chain, model.entry, model.linear, model.slope
    matrix, member, position = model.gram.matrix, model.gram.member, model.gram.position
    for i in range(n):
        slope[i] = linear[i]
    for g in chain[:n_chain]:
        for j in range(start[g], start[g + 1]):
            t = theta[j]
            row = matrix[position[j]]
            for i in range(n):
                slope[i] -= t * row[i]
    strongest_root = 0.0
    i = 0
    while i < n:
        g = data.owner[member[i]]
        size = 0.0
        for j in range(start[g], start[g + 1]):
            size += squared_slope(data, j, slope[i])
            i += 1
        if zone[g] == ZERO and status[g] == FREE:
            entry[g] = math.sqrt(size) / (1e-300 + root_price[g])
            strongest_root = max(strongest_root, entry[g])
    return strongest_root


@kernel
def _activate(data, model, status, n_chain, root, room):
    """Move zero predictors that enter above root into the linear zone, a little way along.

    At most `room` of them, strongest first.
    """
    start, owner, theta, zone = data.start, data.owner, model.theta, model.zone
    chain, entry, slope, matrix = model.chain, model.entry, model.slope, model.gram.matrix
    member, held = model.gram.member, model.held
    above = np.empty(status.size, np.int64)
    n_above = np.int64(0)  # a plain 0 would be a type of its own
    for i in range(model.gram.now.n_columns):
        g = owner[member[i]]
        if member[i] == start[g] and zone[g] == ZERO and status[g] == FREE and entry[g] > root:
            above[n_above] = g
            n_above += 1
    threshold = root
    if n_above > room:
        sort_by(entry, above, n_above)
        threshold = entry[above[n_above - room - 1]]
    i = 0
    while i < model.gram.now.n_columns:
        g = owner[member[i]]
        first, last = start[g], start[g + 1]
        if zone[g] == ZERO and status[g] == FREE and entry[g] > threshold:
            zone[g] = LINEAR
            chain[n_chain] = g
            n_chain += 1
            curvature = data.ridge
            for k in range(last - first):
                curvature += matrix[i + k, i + k]
            gain = max(1.0 - root / entry[g], 1e-9)
            for k in range(last - first):
                j = first + k
                t = gain * slope[i + k] / curvature
                theta[j] = min(max(t, 0.5 * data.lower[j]), 0.5 * data.upper[j])
                held[j] = theta[j] == 0.0 and t != 0.0
        i += last - first
    return n_chain

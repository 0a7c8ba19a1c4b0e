"""Active-set minimisation of the quadratic model with the perspective penalty.

At multiplier mu a free predictor of price c costs the reverse Huber function of t = ||theta_g||:
sqrt(2 ridge mu c) t up to t = sqrt(2 mu c / ridge), then ridge/2 t^2 + mu c. A bought one costs
ridge/2 t^2. mu is moved to where the budget is just spent.
"""

import math

import numpy as np
from numba import njit

from .cholesky import factorise, substitute_both
from .layout import FREE, GRAM_SIZE, IN, OUT, norm_of

ZERO, LINEAR, QUADRATIC = 0, 1, 2
_MAX_CORRECTIONS = 60
# After this many corrections of the zones they change one by one, and a step stops at the first
# coefficient that reaches zero: dependent columns would send several far beyond it.
_FREE_CORRECTIONS = 4
_FEWEST_ACTIVATED = 4
_ZONE_TOLERANCE = 1e-9
# A predictor that is bought to this share is not bought: the direction of a group that small is
# noise, and its curvature, which grows as it shrinks, would hold everything else in place.
_NEGLIGIBLE = 1e-10


@njit(cache=True, error_model="numpy")
def multiplier_of(start, ridge, status, price, theta, budget, z):
    """Return the mu at which theta spends the budget, 0 if it cannot; fills z.

    z_g = min(1, ||theta_g|| sqrt(ridge / (2 mu c_g))) for the free predictors. With
    s = 1 / sqrt(mu) their spending is concave and piecewise linear in s: Newton from the left.
    """
    total = 0.0
    slope = 0.0
    for g in range(status.size):
        if status[g] == FREE:
            size = norm_of(start, theta, g)
            z[g] = 0.0
            if size > 0.0:
                c = price[g]
                z[g] = size * math.sqrt(0.5 * ridge / c) if c > 0.0 else math.inf
                total += c
                slope += c * z[g] if c > 0.0 else 0.0
        else:
            z[g] = 1.0 if status[g] == IN else 0.0
    if total <= budget or slope == 0.0:
        for g in range(status.size):
            z[g] = 1.0 if z[g] > 0.0 else 0.0
        return 0.0
    s = budget / slope
    for _ in range(60):
        spent = 0.0
        slope = 0.0
        for g in range(status.size):
            if status[g] == FREE and z[g] > 0.0 and price[g] > 0.0:
                if s * z[g] >= 1.0:
                    spent += price[g]
                else:
                    spent += price[g] * s * z[g]
                    slope += price[g] * z[g]
        if slope == 0.0 or spent >= budget * (1.0 - 1e-12):
            break
        s += (budget - spent) / slope
    for g in range(status.size):
        if status[g] == FREE:
            z[g] = min(1.0, s * z[g])
    return 1.0 / (s * s)


@njit(cache=True, error_model="numpy")
def minimise_model(data, work, status, budget, mu, mismatch):
    """Minimise the quadratic model around work.theta over the working set; return mu.

    On entry work.theta is the expansion point, whose gradient is in work.gradient; columns of
    forbidden predictors may be nonzero there and end at 0. On exit work.theta is the minimiser.

    Each predictor is in a zone of its penalty: zero, linear or quadratic. For given zones and
    directions u_g of the linear ones, theta = K^-1 b - sqrt(mu) K^-1 (sqrt(2 ridge c) u) is linear
    in sqrt(mu), and so the mu that spends the budget has a closed form: one factorisation gives
    both. The zones are corrected until they are consistent. Predictors that are likely to change
    zone stand last, so that most of the factor can be kept.
    """
    n = work.counter[GRAM_SIZE]
    theta = work.theta
    _linear_term(work, n, mismatch)
    root = math.sqrt(mu)
    n_chain = _first_zones(data, work, status, n, root)
    n_kept = 0  # rows of the factor that are still right
    for trial in range(_MAX_CORRECTIONS):
        # 1. Factorise, and solve for the fixed part and the part that grows with sqrt(mu).
        n_active = _fill_system(data, work, n_chain, n_kept, root)
        if n_active > work.system.shape[0] or not factorise(work.system, n_kept, n_active):
            break
        substitute_both(work.system, n_active, work.solution, work.response)
        # 2. The multiplier that spends the budget.
        old_root = root
        root, left, settled = _spend(data, work, status, n_chain, budget, root)
        for r in range(n_active):
            work.solution[r] -= root * work.response[r]
        if trial >= _FREE_CORRECTIONS:
            share = _first_zero(data, work, n_chain)
            if share < 1.0:
                settled = False
                root = old_root + share * (root - old_root)
                for r in range(n_active):
                    t = theta[work.member[work.active[r]]]
                    work.solution[r] = t + share * (work.solution[r] - t)
        # 3. Correct the zones of the active predictors.
        n_chain, n_kept, corrected = _correct_zones(data, work, status, n_chain, root)
        # 4. Activate what is worth more than its price.
        strongest_root = _slopes(data, work, status, n, n_chain)
        # Many at a time at first; then one by one, as more columns than rows would be dependent.
        room = max(n_chain, _FEWEST_ACTIVATED) if trial < _FREE_CORRECTIONS else 1
        if not corrected:
            if strongest_root > root * (1.0 + 1e-9):
                n_chain = _activate(data, work, status, n_chain, root, room)
                corrected = True
            elif settled and left > 1e-9 * budget and strongest_root > 0.0:
                # Nothing is in the linear zone and money is left: mu falls to the next entry.
                root = strongest_root * (1.0 - 1e-6)
                n_chain = _activate(data, work, status, n_chain, root, room)
                corrected = True
        if settled and not corrected:
            break
    return root * root


# The steps of the loop above, inlined: passing the scratch space costs more than most of them.


@njit(cache=True, error_model="numpy", inline="always")
def _linear_term(work, n, mismatch):
    """Fill work.linear with b = H theta - gradient, the linear term of the model."""
    b = work.linear
    for i in range(n):
        b[i] = mismatch * work.gram_mean[i] - work.gradient[work.member[i]]
    for k in range(n):
        t = work.theta[work.member[k]]
        if t != 0.0:
            row = work.gram[k]
            for i in range(n):
                b[i] += t * row[i]


@njit(cache=True, error_model="numpy")
def _first_zones(data, work, status, n, root):
    """Zones of the expansion point; list the active predictors, steadiest first."""
    ridge = data.ridge
    n_chain = 0
    steadiness = np.empty(n)
    i = 0
    while i < n:
        g = data.owner[work.member[i]]
        first, last = data.start[g], data.start[g + 1]
        i += last - first
        work.root_price[g] = math.sqrt(2.0 * ridge * work.price[g])
        size = norm_of(data.start, work.theta, g)
        work.zone[g] = ZERO
        if status[g] == OUT or (
            status[g] == FREE and ridge * size < _NEGLIGIBLE * root * work.root_price[g]
        ):
            for k in range(first, last):
                work.theta[k] = 0.0
        elif status[g] == IN:
            work.zone[g] = QUADRATIC
            size = math.inf
        elif size > 0.0:
            work.zone[g] = QUADRATIC if ridge * size >= root * work.root_price[g] else LINEAR
        if work.zone[g] != ZERO:
            steady = size / (1e-300 + work.root_price[g])
            c = n_chain
            while c > 0 and steadiness[c - 1] < steady:
                steadiness[c] = steadiness[c - 1]
                work.chain[c] = work.chain[c - 1]
                c -= 1
            steadiness[c] = steady
            work.chain[c] = g
            n_chain += 1
    return n_chain


@njit(cache=True, error_model="numpy", inline="always")
def _fill_system(data, work, n_chain, n_kept, root):
    """Write rows n_kept and later of K, and both right-hand sides; return the number of rows."""
    a, active = work.system, work.active
    n_active = 0
    for c in range(n_chain):
        g = work.chain[c]
        first, last = data.start[g], data.start[g + 1]
        if n_active + last - first > a.shape[0]:
            return a.shape[0] + 1
        linear = work.zone[g] == LINEAR
        size = norm_of(data.start, work.theta, g)
        for j in range(first, last):
            r = n_active
            n_active += 1
            active[r] = work.position[j]
            work.solution[r] = work.linear[active[r]]
            work.response[r] = work.root_price[g] * work.theta[j] / size if linear else 0.0
            if r >= n_kept:
                source, row = work.gram[active[r]], a[r]
                for k in range(r + 1):
                    row[k] = source[active[k]]
                row[r] += 1e-11 * row[r]
                if not linear:
                    row[r] += data.ridge
                elif last - first > 1:
                    # Curvature of the norm: only across its direction.
                    weight = root * work.root_price[g] / size
                    row[r] += weight
                    for k in range(first, j + 1):
                        row[r - (j - k)] -= weight * work.theta[j] / size * work.theta[k] / size
    return n_active


@njit(cache=True, error_model="numpy", inline="always")
def _spend(data, work, status, n_chain, budget, root):
    """Return the sqrt(mu) that spends the budget, what is left of it, and whether it could be met.

    Something is left only if no predictor is in the linear zone.
    """
    left = budget
    fixed, grows = 0.0, 0.0
    any_linear = False
    weakest, weakest_root = -1, math.inf
    r = 0
    for c in range(n_chain):
        g = work.chain[c]
        first, last = data.start[g], data.start[g + 1]
        if work.zone[g] == LINEAR:
            any_linear = True
            scale = 0.5 * work.root_price[g] / norm_of(data.start, work.theta, g)
            for j in range(first, last):
                fixed += scale * work.theta[j] * work.solution[r + j - first]
                grows += scale * work.theta[j] * work.response[r + j - first]
        elif status[g] == FREE:
            left -= work.price[g]
            size = 0.0
            for j in range(first, last):
                size += work.solution[r + j - first] ** 2
            if work.root_price[g] > 0.0:
                entry = data.ridge * math.sqrt(size) / work.root_price[g]
                if entry < weakest_root:
                    weakest, weakest_root = g, entry
        r += last - first
    settled = True
    if any_linear:
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


@njit(cache=True, error_model="numpy", inline="always")
def _first_zero(data, work, n_chain):
    """The share of the step at which the first linear predictor reaches zero, at most 1."""
    share = 1.0
    r = 0
    for c in range(n_chain):
        g = work.chain[c]
        first, last = data.start[g], data.start[g + 1]
        if work.zone[g] == LINEAR:
            along, size = 0.0, 0.0
            for j in range(first, last):
                along += work.solution[r + j - first] * work.theta[j]
                size += work.theta[j] * work.theta[j]
            if along < 0.0:
                share = min(share, size / (size - along) * (1.0 + 1e-9))
        r += last - first
    return share


@njit(cache=True, error_model="numpy", inline="always")
def _correct_zones(data, work, status, n_chain, root):
    """Adopt the solution and move predictors to the zones it is in.

    Returns the length of the list, the number of rows of the factor that stay right, and whether
    any zone changed.
    """
    corrected = False
    n_left = 0
    r = 0
    n_kept = -1
    for c in range(n_chain):
        g = work.chain[c]
        first, last = data.start[g], data.start[g + 1]
        along, size = 0.0, 0.0
        for j in range(first, last):
            t = work.solution[r + j - first]
            along += t * work.theta[j]
            size += t * t
        size = math.sqrt(size)
        changed = False
        if status[g] == FREE:
            # The penalty is smooth where the zones meet: a tolerance there keeps rounding from
            # sending a predictor to and fro.
            ratio = data.ridge * size / (1e-300 + root * work.root_price[g])
            if work.zone[g] == LINEAR:
                if not along > 0.0 or ratio < _NEGLIGIBLE:
                    work.zone[g] = ZERO
                    changed = True
                elif ratio > 1.0 + _ZONE_TOLERANCE:
                    work.zone[g] = QUADRATIC
                    changed = True
                elif last - first > 1:
                    changed = along < (1.0 - 1e-7) * size * norm_of(data.start, work.theta, g)
                    if n_kept < 0:
                        n_kept = r
            elif ratio < 1.0 - _ZONE_TOLERANCE:
                work.zone[g] = LINEAR
                changed = True
        if changed:
            corrected = True
            if n_kept < 0:
                n_kept = r
        for j in range(first, last):
            work.theta[j] = 0.0 if work.zone[g] == ZERO else work.solution[r + j - first]
        if work.zone[g] != ZERO:
            work.chain[n_left] = g
            n_left += 1
        r += last - first
    return n_left, r if n_kept < 0 else n_kept, corrected


@njit(cache=True, error_model="numpy", inline="always")
def _slopes(data, work, status, n, n_chain):
    """Fill the model's downhill slopes and where each zero predictor enters; return the first."""
    slope = work.slope
    for i in range(n):
        slope[i] = work.linear[i]
    for c in range(n_chain):
        for j in range(data.start[work.chain[c]], data.start[work.chain[c] + 1]):
            t = work.theta[j]
            row = work.gram[work.position[j]]
            for i in range(n):
                slope[i] -= t * row[i]
    strongest_root = 0.0
    i = 0
    while i < n:
        g = data.owner[work.member[i]]
        size = 0.0
        for _ in range(data.start[g], data.start[g + 1]):
            size += slope[i] * slope[i]
            i += 1
        if work.zone[g] == ZERO and status[g] == FREE:
            work.entry[g] = math.sqrt(size) / (1e-300 + work.root_price[g])
            strongest_root = max(strongest_root, work.entry[g])
    return strongest_root


@njit(cache=True, error_model="numpy")
def _activate(data, work, status, n_chain, root, room):
    """Move zero predictors that enter above root into the linear zone, a little way along.

    At most `room` of them, strongest first.
    """
    threshold = root
    above = np.empty(status.size)
    n_above = 0
    for i in range(work.counter[GRAM_SIZE]):
        g = data.owner[work.member[i]]
        if work.member[i] == data.start[g] and work.zone[g] == ZERO and status[g] == FREE:
            if work.entry[g] > root:
                above[n_above] = work.entry[g]
                n_above += 1
    if n_above > room:
        threshold = np.sort(above[:n_above])[n_above - room - 1]
    i = 0
    while i < work.counter[GRAM_SIZE]:
        g = data.owner[work.member[i]]
        first, last = data.start[g], data.start[g + 1]
        if work.zone[g] == ZERO and status[g] == FREE and work.entry[g] > threshold:
            work.zone[g] = LINEAR
            work.chain[n_chain] = g
            n_chain += 1
            curvature = data.ridge
            for k in range(last - first):
                curvature += work.gram[i + k, i + k]
            gain = max(1.0 - root / work.entry[g], 1e-9)
            for k in range(last - first):
                work.theta[first + k] = gain * work.slope[i + k] / curvature
        i += last - first
    return n_chain

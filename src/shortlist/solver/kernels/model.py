"""Active-set minimisation of the quadratic model with the perspective penalty.

At multiplier mu a free predictor of price c costs the reverse Huber function of t = ||theta_g||:
sqrt(2 ridge mu c) t up to t = sqrt(2 mu c / ridge), then ridge/2 t^2 + mu c. A bought one costs
ridge/2 t^2. mu is moved to where the budget is just spent.
"""

import math

from numba import njit

from .cholesky import factorise, substitute
from .layout import FREE, GRAM_SIZE, IN, OUT, norm_of


ZERO, LINEAR, QUADRATIC = 0, 1, 2
_MAX_CORRECTIONS = 40


@njit(cache=True)
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




@njit(cache=True)
def minimise_model(data, work, status, budget, mu, mismatch):
    """Minimise the quadratic model around work.theta over the working set; return mu.

    On entry work.theta is the expansion point, whose gradient is in work.gradient; columns of
    forbidden predictors may be nonzero there and end at 0. On exit work.theta is the minimiser.

    Each predictor is in a zone of its penalty: zero, linear or quadratic. For given zones and
    directions u_g of the linear ones, theta = K^-1 b - sqrt(mu) K^-1 (sqrt(2 ridge c) u) is linear
    in sqrt(mu), and so the mu that spends the budget has a closed form: one factorisation gives
    both. The zones are corrected until they are consistent.
    """
    n = work.counter[GRAM_SIZE]
    ridge = data.ridge
    gram, b, slope = work.gram, work.linear, work.slope
    theta = work.theta
    for i in range(n):
        b[i] = mismatch * work.gram_mean[i] - work.gradient[work.member[i]]
    for k in range(n):
        t = theta[work.member[k]]
        if t != 0.0:
            row = gram[k]
            for i in range(n):
                b[i] += t * row[i]
    root = math.sqrt(mu)
    i = 0
    while i < n:
        j = work.member[i]
        g = data.owner[j]
        first, last = data.start[g], data.start[g + 1]
        i += last - first
        if status[g] == OUT:
            work.zone[g] = ZERO
            for k in range(first, last):
                theta[k] = 0.0
        elif status[g] == IN:
            work.zone[g] = QUADRATIC
        else:
            size = norm_of(data.start, theta, g)
            if size == 0.0:
                work.zone[g] = ZERO
            elif size >= root * math.sqrt(2.0 * work.price[g] / ridge):
                work.zone[g] = QUADRATIC
            else:
                work.zone[g] = LINEAR
    active, a, fixed, rise = work.active, work.system, work.solution, work.response
    for trial in range(_MAX_CORRECTIONS):
        # 1. Gather the active columns and factorise.
        n_active = 0
        i = 0
        left = budget
        any_linear = False
        while i < n:
            g = data.owner[work.member[i]]
            first, last = data.start[g], data.start[g + 1]
            if work.zone[g] != ZERO:
                if status[g] == FREE and work.zone[g] == QUADRATIC:
                    left -= work.price[g]
                if work.zone[g] == LINEAR:
                    any_linear = True
                for r in range(last - first):
                    active[n_active] = i + r
                    n_active += 1
            i += last - first
        if n_active > a.shape[0]:
            break
        for r in range(n_active):
            i = active[r]
            j = work.member[i]
            g = data.owner[j]
            for c in range(r + 1):
                a[r, c] = gram[i, active[c]]
            fixed[r] = b[i]
            rise[r] = 0.0
            a[r, r] += 1e-11 * gram[i, i]
            if work.zone[g] == QUADRATIC:
                a[r, r] += ridge
            else:
                first, last = data.start[g], data.start[g + 1]
                size = norm_of(data.start, theta, g)
                rise[r] = math.sqrt(2.0 * ridge * work.price[g]) * theta[j] / size
                if last - first > 1:
                    weight = root * math.sqrt(2.0 * ridge * work.price[g]) / size
                    a[r, r] += weight
                    for c in range(r + 1):
                        k = work.member[active[c]]
                        if first <= k < last:
                            a[r, c] -= weight * theta[j] / size * theta[k] / size
        if not factorise(a, 0, n_active):
            break
        substitute(a, n_active, fixed)
        substitute(a, n_active, rise)
        # 2. The multiplier that spends the budget.
        moved = False
        old_root = root
        if any_linear:
            rate_fixed, rate_rise = 0.0, 0.0
            for r in range(n_active):
                j = work.member[active[r]]
                g = data.owner[j]
                if work.zone[g] == LINEAR:
                    w = math.sqrt(0.5 * ridge * work.price[g]) * theta[j] / norm_of(data.start, theta, g)
                    rate_fixed += w * fixed[r]
                    rate_rise += w * rise[r]
            if left + rate_rise > 0.0 and rate_fixed > 0.0:
                root = rate_fixed / (left + rate_rise)
            elif left + rate_rise <= 0.0:
                root *= 1.5
                moved = True
            else:
                root *= 0.7
                moved = True
        for r in range(n_active):
            fixed[r] -= root * rise[r]
        if trial >= 4:
            # Dependent columns send several coefficients far beyond zero: stop at the first.
            share = 1.0
            r = 0
            while r < n_active:
                g = data.owner[work.member[active[r]]]
                first, last = data.start[g], data.start[g + 1]
                if work.zone[g] == LINEAR:
                    along, size = 0.0, 0.0
                    for k in range(last - first):
                        along += fixed[r + k] * theta[first + k]
                        size += theta[first + k] * theta[first + k]
                    if along < 0.0:
                        share = min(share, size / (size - along) * (1.0 + 1e-9))
                r += last - first
            if share < 1.0:
                moved = True
                root = old_root + share * (root - old_root)
                for r in range(n_active):
                    t = theta[work.member[active[r]]]
                    fixed[r] = t + share * (fixed[r] - t)
        # 3. Correct the zones of the active predictors.
        changed = False
        weakest, weakest_root = -1, math.inf
        r = 0
        while r < n_active:
            g = data.owner[work.member[active[r]]]
            first, last = data.start[g], data.start[g + 1]
            along, size = 0.0, 0.0
            for k in range(last - first):
                along += fixed[r + k] * theta[first + k]
                size += fixed[r + k] * fixed[r + k]
            size = math.sqrt(size)
            limit = root * math.sqrt(2.0 * work.price[g] / ridge)
            if status[g] == FREE and work.zone[g] == LINEAR and not along > 0.0:
                work.zone[g] = ZERO
                changed = True
                for k in range(last - first):
                    theta[first + k] = 0.0
            else:
                if status[g] == FREE:
                    if work.zone[g] == LINEAR:
                        if size > limit:
                            work.zone[g] = QUADRATIC
                            changed = True
                        elif last - first > 1:
                            old = norm_of(data.start, theta, g)
                            if along < (1.0 - 1e-7) * size * old:
                                changed = True
                    else:
                        if size < limit:
                            work.zone[g] = LINEAR
                            changed = True
                        elif size / limit * root < weakest_root and limit > 0.0:
                            weakest, weakest_root = g, size / limit * root
                for k in range(last - first):
                    theta[first + k] = fixed[r + k]
            r += last - first
        # 4. Activate what is worth more than its price.
        for i in range(n):
            slope[i] = b[i]
        for r in range(n_active):
            t = theta[work.member[active[r]]]
            if t != 0.0:
                row = gram[active[r]]
                for i in range(n):
                    slope[i] -= t * row[i]
        strongest, strongest_root = -1, 0.0
        i = 0
        while i < n:
            g = data.owner[work.member[i]]
            first, last = data.start[g], data.start[g + 1]
            if work.zone[g] == ZERO and status[g] == FREE:
                size = 0.0
                for k in range(last - first):
                    size += slope[i + k] * slope[i + k]
                size = math.sqrt(size)
                entry = size / math.sqrt(2.0 * ridge * work.price[g])
                if entry > strongest_root:
                    strongest, strongest_root = g, entry
                if entry > root * (1.0 + 1e-9) and not changed:
                    _enter(data, work, g, i, size, root)
                    moved = True
            i += last - first
        changed = changed or moved
        if not any_linear and not changed:
            if left > 1e-9 * budget and strongest >= 0 and strongest_root > 0.0:
                root = strongest_root * (1.0 - 1e-6)
                i = work.position[data.start[strongest]]
                size = strongest_root * math.sqrt(2.0 * ridge * work.price[strongest])
                _enter(data, work, strongest, i, size, root)
                changed = True
            elif left < -1e-9 * budget and weakest >= 0:
                root = weakest_root * (1.0 + 1e-6)
                work.zone[weakest] = LINEAR
                changed = True
        if not changed:
            break
    return root * root


@njit(cache=True)
def _enter(data, work, g, i, size, root):
    """Move a zero predictor into the linear zone, a first small step along its slope."""
    first, last = data.start[g], data.start[g + 1]
    work.zone[g] = LINEAR
    curvature = 0.0
    for k in range(last - first):
        curvature += work.gram[i + k, i + k]
    gain = size - root * math.sqrt(2.0 * data.ridge * work.price[g])
    step = max(gain, 1e-9 * size) / (curvature + data.ridge)
    for k in range(last - first):
        work.theta[first + k] = step * work.slope[i + k] / size

"""Columns that the quadratic model holds at limits of their coefficients.

A held column keeps its row in the linear system, which then says that it stays. In a free predictor
of several columns only the limits themselves hold, and not that it is bought to a larger share.
"""

import math

from .layout import FREE, norm_of
from .penalty import LINEAR, linear_slope, squared_slope
from .reference import kernel

# A column leaves its limit when its slope points inwards by more than this share.
_TOLERANCE = 1e-9


@kernel
def hold_rows(data, model, n_active, n_kept, root):
    """Make the rows of held columns say that they stay, and take them from the other rows."""
    theta, held, member = model.theta, model.held, model.gram.member
    a, active = model.system.matrix, model.system.active
    solution, response = model.system.solution, model.system.response
    for h in range(n_active):
        j = member[active[h]]
        if held[j]:
            g = data.owner[j]
            across = 0.0  # of the norm's curvature, as in `_fill_system`
            if model.zone[g] == LINEAR:
                across = root * model.root_price[g] / norm_of(data.start, theta, g) ** 3
            for r in range(n_active):
                k = member[active[r]]
                if not held[k]:
                    solution[r] -= theta[j] * model.gram.matrix[active[r], active[h]]
                    if data.owner[k] == g:
                        solution[r] += theta[j] * across * theta[j] * theta[k]
            for r in range(max(h + 1, n_kept), n_active):
                a[r, h] = 0.0
            if h >= n_kept:
                for k in range(h):
                    a[h, k] = 0.0
                a[h, h] = 1.0
            solution[h] = theta[j]
            response[h] = 0.0


@kernel
def release(data, model, status, n_chain, root):
    """Release what would rather leave its limit; return whether anything does."""
    start, theta, zone = data.start, model.theta, model.zone
    is_any = False
    for g in model.chain[:n_chain]:
        first, last = start[g], start[g + 1]
        for j in range(first, last):
            if not model.held[j]:
                continue
            # Slopes of the model and of the penalty, inwards if the limit is to be left.
            slope = model.slope[model.gram.position[j]]
            penalty, is_steep = data.ridge * theta[j], False
            if status[g] == FREE and (last - first == 1 or zone[g] == LINEAR):
                size, is_steep = linear_slope(data, model, g, root)
                if is_steep or zone[g] == LINEAR:
                    penalty = size * theta[j] / norm_of(start, theta, g)
            inward = penalty - slope
            if theta[j] == data.lower[j]:
                inward = -inward
            if inward > _TOLERANCE * abs(slope):
                model.held[j] = False
                is_any = True
                if is_steep:
                    zone[g] = LINEAR
    return is_any


@kernel
def leaving_root(data, model, n_chain, g):
    """The sqrt(mu) at which predictor g, of one column held at a limit, leaves it.

    For that nothing is in the linear zone, and the solution does not depend on mu.
    """
    start, position = data.start, model.gram.position
    row = model.gram.matrix[position[start[g]]]
    slope = model.linear[position[start[g]]]
    r = 0
    for other in model.chain[:n_chain]:
        for j in range(start[other], start[other + 1]):
            slope -= model.system.solution[r] * row[position[j]]
            r += 1
    return math.sqrt(squared_slope(data, start[g], slope)) / model.root_price[g]

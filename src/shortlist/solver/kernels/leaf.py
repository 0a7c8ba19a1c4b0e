"""What the leaves of a tree may still buy, for dual points that were evaluated elsewhere."""

import math

from .layout import IN
from .oracle import complete
from .reference import by_reference, entry
from .room import forbid_unaffordable


@entry
def price_leaves(limits, values, v, point, status, most, out):
    """Fill out[i], the most that selections of leaf i take off the entropy of their dual point.

    That is what is bought, and the most valuable affordable completion by at most most[i] free
    predictors: infinite if the point has no values, minus infinity if nothing is affordable. The
    values of predictors to the point of leaf i are v[point[i]]; status[i] is the leaf, in which
    free predictors that are not affordable become forbidden.
    """
    limits, values = by_reference(limits), by_reference(values)
    for i in range(point.size):
        leaf, worth = status[i], v[point[i]]
        n_free, left, count = forbid_unaffordable(limits, leaf)
        out[i] = -math.inf
        if left < 0.0 or count < 0:
            continue
        total = 0.0
        for g in range(leaf.size):
            values.v[g] = worth[g]
            if leaf[g] == IN:
                total += worth[g]
        if n_free > 0:
            total += complete(limits, values, leaf, left, min(count, most[i]))
        out[i] = total if not math.isnan(total) else math.inf
